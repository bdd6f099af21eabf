// Jest passes over every file below a folder named .git, also where the whole project stands below one. That is
// where afterd checks versions out, so Jest would find no test there. Loaded into every process of Node's
// (NODE_OPTIONS); it does something only below .git, and there only to the list of folders in jest-haste-map.
'use strict';

const Module = require('module');
const path = require('path');

const PASSED_OVER = /(VCS_DIRECTORIES = \[)(['"])\.git\2, */;

if (process.cwd().split(path.sep).includes('.git')) {
  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...others) {
    const concerned = filename.split(path.sep).includes('jest-haste-map');
    return compile.call(this, concerned ? content.replace(PASSED_OVER, '$1') : content, filename, ...others);
  };
}
