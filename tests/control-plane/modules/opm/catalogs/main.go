// Command catalogs answers what operator-registry makes of templates and catalogs: a question in JSON on each line of
// stdin, the answer in JSON on a line of stdout. `opm` does the same, but pulls the bundles of templates from registries.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	texttemplate "text/template"

	"github.com/operator-framework/operator-registry/alpha/action"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/template"
	"github.com/operator-framework/operator-registry/pkg/lib/config"
	"github.com/sirupsen/logrus"
)

type question struct {
	// A template, and the directories of its bundles by their images.
	Template string
	Bundles  map[string]string
	// Or the directory of a catalog.
	Validate string
}

type answer struct {
	Catalog string `json:"catalog"`
	Error   string `json:"error"`
}

func main() {
	logrus.SetLevel(logrus.PanicLevel)
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var q question
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			panic(err)
		}
		text, err := reply(q)
		a := answer{Catalog: text}
		if err != nil {
			a.Error = err.Error()
		}
		out, _ := json.Marshal(a)
		fmt.Println(string(out))
	}
}

func reply(q question) (text string, err error) {
	defer func() {
		if it := recover(); it != nil {
			err = fmt.Errorf("panic: %v", it)
		}
	}()
	ctx := context.Background()
	if q.Validate != "" {
		return "", config.Validate(ctx, os.DirFS(q.Validate))
	}
	render := func(ctx context.Context, image string) (*declcfg.DeclarativeConfig, error) {
		dir, ok := q.Bundles[image]
		if !ok {
			return nil, fmt.Errorf("no bundle %q", image)
		}
		reference := texttemplate.Must(texttemplate.New("image").Parse(image))
		it := action.Render{Refs: []string{dir}, AllowedRefMask: action.RefBundleDir, ImageRefTemplate: reference}
		return it.Run(ctx)
	}
	it, reader, err := template.NewRegistry().CreateTemplateBySchema(strings.NewReader(q.Template), render)
	if err != nil {
		return "", err
	}
	cfg, err := it.Render(ctx, reader)
	if err != nil {
		return "", err
	}
	var out bytes.Buffer
	err = declcfg.WriteJSON(*cfg, &out)
	return out.String(), err
}
