// Command platforms checks the types of all packages in the current directory, with their tests, as compilers for other
// platforms would, such as linux/386. It reads what they import from source, too: compiling that for each platform
// takes ten times as long.
package main

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) == 1 {
		fmt.Fprintln(os.Stderr, "usage: platforms linux/386 ...")
		os.Exit(2)
	}
	failed := 0
	for _, platform := range os.Args[1:] {
		system, processor, _ := strings.Cut(platform, "/")
		all, err := packages.Load(&packages.Config{
			Mode:  packages.LoadAllSyntax,
			Tests: true,
			Env:   append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+processor),
		}, "./...")
		if err != nil {
			fmt.Fprintln(os.Stderr, platform+":", err)
			os.Exit(1)
		}
		errors := packages.PrintErrors(all)
		if len(all) == 0 {
			errors++
		}
		fmt.Printf("%s: %d packages, %d errors\n", platform, len(all), errors)
		failed += errors
	}
	if failed > 0 {
		os.Exit(1)
	}
}
