"""Packages that one version's package.json asks for and the modules that all versions are tried with have not.

Modules are installed once, for the version that the user has. Where a package was dropped in the range, the versions
before that cannot be loaded without it. It is put below the build's folder with all that it needs, and a link to it
stands among the modules as long as a version asks for it: one that has dropped it must not find it there.
"""

from __future__ import annotations

import shlex

from afterd.execution.runners.reading import BUILD_FOLDER

_SCRIPT = r"""
const fs = require("fs"), path = require("path"), { spawnSync } = require("child_process");
const more = "FOLDER/more", asked = JSON.parse(fs.readFileSync("package.json", "utf8")).dependencies || {};
const linked = fs.existsSync(more + "/linked") ? JSON.parse(fs.readFileSync(more + "/linked", "utf8")) : [];
const there = name => path.join("node_modules", name), kept = name => path.join(more, "node_modules", name);
const isLink = name => { try { return fs.lstatSync(there(name)).isSymbolicLink(); } catch { return false; } };
for (const name of linked) if (isLink(name) && !asked[name]) fs.unlinkSync(there(name));
const lacking = Object.keys(asked).filter(name => !fs.existsSync(there(name)));
const known = /^(?:[\^~<>=v\d*]|latest$|npm:|https:|file:.*\.tgz$)/;
const wanted = lacking.filter(name => !fs.existsSync(kept(name)) && known.test(asked[name]));
if (wanted.length) {
  fs.mkdirSync(more, { recursive: true });
  const options = ["--prefix", more, "--install-strategy=nested", "--no-save", "--no-package-lock", "--no-audit"];
  options.push("--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--loglevel=error", "--fetch-retries=0");
  const names = wanted.map(name => name + "@" + asked[name].replace(/^file:(?!\/)/, "file:" + process.cwd() + "/"));
  spawnSync("npm", ["install", ...options, ...names], { stdio: "inherit" });
}
for (const name of lacking.filter(name => fs.existsSync(kept(name)))) {
  if (isLink(name)) fs.unlinkSync(there(name));
  fs.mkdirSync(path.dirname(there(name)), { recursive: true });
  fs.symlinkSync(path.relative(path.dirname(there(name)), kept(name)), there(name));
  linked.push(name);
}
if (linked.length) fs.writeFileSync(more + "/linked", JSON.stringify([...new Set(linked)]));
"""


def missing_packages() -> str:
    """A shell line after which the packages are there that the version asks for, as far as they can be had."""
    return f"node -e {shlex.quote(_SCRIPT.replace('FOLDER', BUILD_FOLDER).strip())}"
