import { build, type Plugin } from 'esbuild'
import { globSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { writeChanged } from './write-changed.ts'

const root = join(import.meta.dirname, '..')

/** Directory of a function's bundle; `entry` is its path under functions/, without `.ts`. */
export const bundleDirectory = (entry: string): string => join(root, 'dist', 'functions', entry)

/**
 * Bundles every function into one ES module with all its dependencies. One esbuild call bundles them all, which saves a
 * process start per function. The AWS SDK is bundled, because the runtime's own copy is larger and loads more slowly.
 */
export async function bundleFunctions(): Promise<void> {
  const entries = globSync('**/*.ts', { cwd: join(root, 'functions') }).map((file) =>
    file.replace(/\.ts$/, ''),
  )
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: Object.fromEntries(entries.map((entry) => [`${entry}/index`, `functions/${entry}.ts`])),
    outdir: join(root, 'dist', 'functions'),
    outExtension: { '.js': '.mjs' },
    bundle: true,
    minify: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // esbuild tree-shakes ES modules, but not the CommonJS files that the SDK names as `main`.
    mainFields: ['module', 'main'],
    // Replaces SDK parts that no function uses and that made up a third of a bundle: credential providers other than the
    // environment, endpoint discovery and event streams.
    alias: {
      '@aws-sdk/credential-provider-node': './shared/aws/no-credential-chain.ts',
      '@aws-sdk/endpoint-cache': './shared/aws/no-endpoint-cache.ts',
      '@smithy/core/event-streams': './shared/aws/no-event-streams.ts',
    },
    legalComments: 'none',
    plugins: [loadBuiltinModulesLazily],
    logLevel: 'warning',
    write: false,
  })
  await writeChanged(outputFiles)
}

const builtinNames = builtinModules.map((name) => name.replace(/^node:/, '')).join('|')

/**
 * Makes a bundle load Node's modules with `process.getBuiltinModule`. An `import` reads every export of a module, and
 * reading those of `node:http` loads fetch and WebSocket, which took half of a function's import time.
 */
const loadBuiltinModulesLazily: Plugin = {
  name: 'load-builtin-modules-lazily',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^(node:)?(${builtinNames})$`) }, ({ path }) => ({
      path: path.replace(/^(node:)?/, 'node:'),
      namespace: 'builtin',
    }))
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}
