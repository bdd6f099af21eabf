"""Packages that one version's package.json asks for and the modules that all versions are tried with have not, or have
in a version that does not do.

Modules are installed once, for the version that the user has. Where a package was dropped in the range, or is asked for
in another version since, the versions before that cannot be loaded with these, and the change to package.json cannot
be seen to break anything. So it is put below the build's folder with all that it needs, and a link to it stands among
the modules as long as a version asks for it: another one must not find it there.
"""

from __future__ import annotations

import shlex

from afterd.execution.runners.reading import BUILD_FOLDER

_SCRIPT = r"""
const fs = require("fs"), path = require("path"), { spawnSync } = require("child_process");
const read = file => { try { return JSON.parse(fs.readFileSync(file, "utf8")); } catch { return {}; } };
const more = "FOLDER/more", told = "node_modules/.afterd-linked.json", aside = "node_modules/.afterd-aside";
const there = name => path.join("node_modules", name), put = name => path.join(aside, name);
const isLink = name => { try { return fs.lstatSync(there(name)).isSymbolicLink(); } catch { return false; } };
const under = file => fs.mkdirSync(path.dirname(file), { recursive: true });
for (const name of read(told).linked || []) {
  if (!isLink(name)) continue;
  fs.unlinkSync(there(name));
  if (fs.existsSync(put(name))) fs.renameSync(put(name), there(name));
}
const asked = read("package.json").dependencies || {};
const semver = (() => {
  const npms = process.env.PATH.split(":").map(folder => path.join(folder, "npm")).filter(fs.existsSync);
  const places = npms.map(npm => path.join(path.dirname(fs.realpathSync(npm)), "../node_modules/semver"));
  for (const place of [...places, "/usr/share/nodejs/semver"]) try { return require(place); } catch {}
})();
const fits = name => {
  const { version } = read(path.join(there(name), "package.json"));
  return !version || !semver || !semver.validRange(asked[name]) || semver.satisfies(version, asked[name]);
};
const home = name => path.join(more, encodeURIComponent(name + "@" + asked[name]));
const kept = name => path.join(home(name), "node_modules", name);
const lacking = Object.keys(asked).filter(name => !fs.existsSync(there(name)) || !fits(name));
const known = /^(?:[\^~<>=v\d*]|latest$|npm:|https:|file:.*\.tgz$)/;
for (const name of lacking.filter(name => !fs.existsSync(home(name)) && known.test(asked[name]))) {
  fs.mkdirSync(home(name), { recursive: true });
  const options = ["--prefix", home(name), "--install-strategy=nested", "--no-save", "--no-package-lock", "--no-audit"];
  options.push("--no-fund", "--ignore-scripts", "--legacy-peer-deps", "--loglevel=error", "--fetch-retries=0");
  const wanted = name + "@" + asked[name].replace(/^file:(?!\/)/, "file:" + process.cwd() + "/");
  spawnSync("npm", ["install", ...options, wanted], { stdio: "inherit" });
}
const linked = lacking.filter(name => fs.existsSync(kept(name)));
for (const name of linked) {
  under(put(name)), under(there(name));
  fs.rmSync(put(name), { recursive: true, force: true });
  try { fs.renameSync(there(name), put(name)); } catch {}  // it has none
  fs.symlinkSync(path.relative(path.dirname(there(name)), kept(name)), there(name));
}
if (linked.length) fs.writeFileSync(told, JSON.stringify({ linked }));
else fs.rmSync(told, { force: true });
"""


def missing_packages() -> str:
    """A shell line after which the packages are there that the version asks for, as far as they can be had."""
    return f"node -e {shlex.quote(_SCRIPT.replace('FOLDER', BUILD_FOLDER).strip())}"
