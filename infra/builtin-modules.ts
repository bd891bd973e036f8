import type { Plugin } from 'esbuild'
import { builtinModules } from 'node:module'

const names = builtinModules.map((name) => name.replace(/^node:/, '')).join('|')

/**
 * Has a bundle ask for Node's own modules by `process.getBuiltinModule`. An `import` of one reads every export that it has, and
 * those of `node:http` load all of fetch and WebSocket: half of the time that a function's import took.
 */
export const builtinModulesByCall: Plugin = {
  name: 'builtin-modules-by-call',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^(node:)?(${names})$`) }, ({ path }) => ({
      path: path.replace(/^(node:)?/, 'node:'),
      namespace: 'builtin',
    }))
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}
