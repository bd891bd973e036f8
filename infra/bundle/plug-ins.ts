import type { Plugin } from 'esbuild'
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, join } from 'node:path'

const builtinNames = builtinModules.map((name) => name.replace(/^node:/, '')).join('|')

/**
 * In a bundle, loads Node's modules with `process.getBuiltinModule`, and reads only the exports that are
 * used. A plain `import` reads every export: for `node:http`, it loads fetch and WebSocket, which took half
 * of a function's import time. The SDK imports `ReadStream` of `node:fs`, and reading this export loads nine
 * more modules. So exports of `node:fs` are read only when code uses them.
 */
const loadBuiltinModulesLazily: Plugin = {
  name: 'load-builtin-modules-lazily',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^(node:)?(${builtinNames})$`) }, ({ path, kind }) => {
      const name = path.replace(/^(node:)?/, 'node:')
      // The bundler may run in a thread, where it cannot list all exports of `node:process`.
      const isWhole = kind !== 'import-statement' || ['node:fs', 'node:process'].includes(name)
      return { path: name, namespace: 'builtin', suffix: isWhole ? '?whole' : '', sideEffects: false }
    })
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path, suffix }) => ({
      contents: suffix === '' ? exportsOf(path) : `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/**
 * Source code of an ES module with all exports of one of Node's modules. The bundler drops unused exports.
 */
function exportsOf(path: string): string {
  const names = Object.keys(process.getBuiltinModule(path) as object)
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule('${path}')`,
    'export default builtin',
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ (() => builtin.${name})()`),
  ].join('\n')
}

/** File with the stubs that replace parts of the SDK. */
export const stubs = join(import.meta.dirname, 'stubs.ts')

/** SDK modules that a plug-in replaces with stubs. esbuild's `alias` does not work for relative paths. */
const stubbed = [
  'Sha256Js',
  'Md5Js',
  'fromSharedConfigFiles',
  'getInstanceMetadataRegion',
  'AdaptiveRetryStrategy',
  'resolveDefaultsModeConfig',
  'package.json',
]

/**
 * Removes SDK modules that no function needs. Also removes the SDK's list of regions, because the SDK can
 * derive a region's partition from the region's name. Together, this makes most bundles 18 KB smaller.
 */
const stubSdk: Plugin = {
  name: 'stub-sdk',
  setup(builder) {
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      const isStubbed = /@smithy\/core|@aws-sdk\/client-/.test(importer) && stubbed.includes(basename(path))
      // Sets `sideEffects: false` again: if a plug-in resolves a path, esbuild ignores package.json's value.
      return isStubbed ? { path: stubs, sideEffects: false } : undefined
    })
    builder.onLoad({ filter: /@aws-sdk\/core\/.*\/partitions\.js$/ }, async ({ path }) => {
      const { partitionsInfo: info } = (await import(path)) as { partitionsInfo: { partitions: object[] } }
      const partitions = info.partitions.map((partition) => ({ ...partition, regions: {} }))
      return { contents: `export const partitionsInfo = ${JSON.stringify({ ...info, partitions })}` }
    })
  },
}

/**
 * AWS errors that keep their own class, because our code or the SDK's retry needs it. All others are thrown
 * as the service's base class, with their own names and HTTP statuses.
 */
const errorClasses = [
  'BadRequestException',
  'ConditionalCheckFailedException',
  'KMSInvalidStateException',
  'LimitExceededException',
  'MessageRejected',
  'NotFoundException',
  'ReplicatedWriteConflictException',
  'TransactionCanceledException',
]
const otherError = new RegExp(
  String.raw`^n0_registry.registerError\([\w$]+, (?!(${errorClasses.join('|')})\))`,
  'gm',
)

/**
 * Lets esbuild drop the schemas of unused operations and errors, which are up to 100 KB. esbuild keeps every
 * object with computed keys and every registered error. So this plug-in replaces computed keys (`[_name]`) by
 * fixed text, and registers only the `errorClasses`.
 */
const dropUnusedSchemas: Plugin = {
  name: 'drop-unused-schemas',
  setup(builder) {
    builder.onLoad({ filter: /@aws-sdk\/client-[^/]+\/dist-es\/schemas\/schemas_0\.js$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8')
      const texts = new Map(
        [...source.matchAll(/^const (_\w+) = (".*");$/gm)].map(([, name, text]) => [name, text]),
      )
      const contents = source
        .replaceAll(/\[(_\w+)\]:/g, (key, name: string) => `${texts.get(name) ?? key}:`)
        .replaceAll(otherError, '// $&')
      return { contents, loader: 'js' }
    })
  },
}

/** The plug-ins of esbuild that make the bundles of functions small and quick to load. */
export const plugIns = [loadBuiltinModulesLazily, stubSdk, dropUnusedSchemas]
