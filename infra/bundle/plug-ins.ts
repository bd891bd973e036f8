import type { Plugin } from 'esbuild'
import { readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, join } from 'node:path'

const builtinNames = builtinModules.map((name) => name.replace(/^node:/, '')).join('|')

/**
 * Makes a bundle load Node's modules with `process.getBuiltinModule`, and read only the exports that it uses.
 * A plain `import` reads every export of a module. For `node:http` that loads fetch and WebSocket, which took
 * half of a function's import time. Of `node:fs` an export is not read before its use: the SDK imports
 * `ReadStream`, which loads nine modules more.
 */
const loadBuiltinModulesLazily: Plugin = {
  name: 'load-builtin-modules-lazily',
  setup(builder) {
    builder.onResolve({ filter: new RegExp(`^(node:)?(${builtinNames})$`) }, ({ path, kind }) => {
      const name = path.replace(/^(node:)?/, 'node:')
      const isWhole = kind !== 'import-statement' || name === 'node:fs'
      return { path: name, namespace: 'builtin', suffix: isWhole ? '?whole' : '', sideEffects: false }
    })
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path, suffix }) => ({
      contents: suffix === '' ? exportsOf(path) : `module.exports = process.getBuiltinModule('${path}')`,
    }))
  },
}

/** An ES module with the exports of a module of Node's. The bundler drops each that nobody imports. */
function exportsOf(path: string): string {
  const names = Object.keys(process.getBuiltinModule(path) as object)
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule('${path}')`,
    'export default builtin',
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ (() => builtin.${name})()`),
  ].join('\n')
}

/** The file that stands for parts of the SDK. */
export const stubs = join(import.meta.dirname, 'stubs.ts')

/** Modules inside the SDK that it stands for, too: an alias can only stand for what a package exports. */
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
 * Leaves out what no function needs of the SDK, 18 KB of most functions: whole modules, and the list of
 * regions, whose partitions the SDK knows by their names, too.
 */
const stubSdk: Plugin = {
  name: 'stub-sdk',
  setup(builder) {
    builder.onResolve({ filter: /^\.\.?\// }, ({ path, importer }) => {
      const isStubbed = /@smithy\/core|@aws-sdk\/client-/.test(importer) && stubbed.includes(basename(path))
      // Without effects, as package.json says of it for an alias: whichever of both comes first decides, so
      // that bundles would differ from time to time.
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
 * The errors of AWS whose class our code tells apart, and the one that the SDK retries because of its class.
 * The SDK throws any other as the base class of its service, with the same name and status.
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
 * Lets esbuild drop the schemas of operations and errors that a function does not use, up to 100 KB. It keeps
 * what has a computed key, which might have an effect, so `[_name]:` becomes the text of that constant; and
 * what is registered, so most errors are not.
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
