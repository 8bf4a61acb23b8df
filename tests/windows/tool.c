// A program for Windows that runs the Unix program of its own name, with its arguments, streams and exit status. wine
// starts Unix programs, but passes them no pipes and does not wait for them, so that all goes through sockets.
#include <winsock2.h>
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

// Paths of the drive `Z:`, which is Unix' root directory, become Unix paths.
static const wchar_t SCRIPT[] =
    L"port=$1; name=$2; shift 2; words=(); "
    L"for word; do case $word in *[zZ]:[\\\\/]*) word=${word//\\\\/\\/}; word=${word//[zZ]:\\//\\/};; esac; words+=(\\\"$word\\\"); done; "
    L"for stream in 3 4 5 6; do eval \\\"exec $stream<>/dev/tcp/127.0.0.1/$port\\\" || exit; done; "
    L"\\\"$name\\\" \\\"${words[@]}\\\" <&3 >&4 2>&5 3<&- 4<&- 5<&- 6<&-; status=$?; exec 3<&- 4<&- 5<&-; echo $status >&6";

static SOCKET sockets[4];

// Copies stdin to the program.
static DWORD WINAPI feed(void *unused) {
  char buffer[1 << 16];
  DWORD length;
  (void)unused;
  while (ReadFile(GetStdHandle(STD_INPUT_HANDLE), buffer, sizeof buffer, &length, NULL) && length > 0)
    if (send(sockets[0], buffer, length, 0) < 0) break;
  shutdown(sockets[0], SD_SEND);
  return 0;
}

// Copies what the program prints until it ends.
static DWORD WINAPI drain(void *stream) {
  char buffer[1 << 16];
  DWORD written;
  int length, number = (int)(INT_PTR)stream;
  HANDLE handle = GetStdHandle(number == 1 ? STD_OUTPUT_HANDLE : STD_ERROR_HANDLE);
  while ((length = recv(sockets[number], buffer, sizeof buffer, 0)) > 0)
    if (!WriteFile(handle, buffer, length, &written, NULL)) break;
  closesocket(sockets[number]);
  return 0;
}

// The rest of a command line after its first word.
static const wchar_t *arguments(const wchar_t *line) {
  wchar_t end = *line == '"' ? *line++ : ' ';
  while (*line && *line != end) line++;
  return *line == '"' ? line + 1 : line;
}

int main(void) {
  wchar_t path[MAX_PATH], *name;
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int size = sizeof address, number, status = 1;
  WSADATA data;
  WSAStartup(MAKEWORD(2, 2), &data);
  SOCKET listener = socket(AF_INET, SOCK_STREAM, 0);
  if (bind(listener, (void *)&address, size) || listen(listener, 4) || getsockname(listener, (void *)&address, &size)) return 1;

  GetModuleFileNameW(NULL, path, MAX_PATH);
  name = wcsrchr(path, '\\') + 1;
  *wcsrchr(name, '.') = 0;
  const wchar_t *rest = arguments(GetCommandLineW());
  wchar_t *line = calloc(wcslen(rest) + wcslen(SCRIPT) + MAX_PATH + 64, sizeof *line);
  swprintf(line, wcslen(rest) + wcslen(SCRIPT) + MAX_PATH + 64, L"bash -c \"%ls\" bash %d %ls%ls", SCRIPT, ntohs(address.sin_port), name, rest);
  STARTUPINFOW startup = {.cb = sizeof startup};
  PROCESS_INFORMATION process;
  if (!CreateProcessW(L"Z:\\bin\\bash", line, NULL, NULL, FALSE, 0, NULL, NULL, &startup, &process)) {
    fprintf(stderr, "cannot start bash: error %lu\n", GetLastError());
    return 1;
  }
  for (number = 0; number < 4; number++) sockets[number] = accept(listener, NULL, NULL);
  CreateThread(NULL, 0, feed, NULL, 0, NULL);
  HANDLE printed[2] = {CreateThread(NULL, 0, drain, (void *)1, 0, NULL), CreateThread(NULL, 0, drain, (void *)2, 0, NULL)};
  WaitForMultipleObjects(2, printed, TRUE, INFINITE);
  char text[8] = {0};
  if (recv(sockets[3], text, sizeof text - 1, 0) > 0) status = atoi(text);
  ExitProcess(status);
}
