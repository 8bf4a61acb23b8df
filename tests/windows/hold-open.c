// hold-open FILE: has a file open for reading, as an editor for Windows may have it, until stdin ends.
#include <windows.h>
#include <stdio.h>

int main(int count, char **arguments) {
  char byte;
  DWORD length;
  if (count != 2) return 2;
  HANDLE file = CreateFileA(arguments[1], GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
  if (file == INVALID_HANDLE_VALUE) return 1;
  puts("open");
  fflush(stdout);
  while (ReadFile(GetStdHandle(STD_INPUT_HANDLE), &byte, 1, &length, NULL) && length > 0) {}
  return 0;
}
