./cmark-gfm -e table -e strikethrough -e autolink -e tasklist page.md | diff expected -
