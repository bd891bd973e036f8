import type { Plugin } from 'esbuild'
import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, dirname, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The plugins of esbuild that make the bundles of functions small and quick to load. */
export const plugins = (): Plugin[] => [loadBuiltinModulesLazily, dropUnused, trimSdk, trimSchemas()]

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

/**
 * Leaves out what cannot be replaced by an alias: all but the version of the `package.json` of each client,
 * which the SDK sends in its User-Agent; the list of regions, whose partitions it knows by their names, too;
 * and modules of @smithy/core that no function needs.
 */
const trimSdk: Plugin = {
  name: 'trim-sdk',
  setup(builder) {
    builder.onLoad({ filter: /@aws-sdk\/client-[^/]+\/package\.json$/ }, ({ path }) => {
      const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version: string }
      return { contents: JSON.stringify({ version }), loader: 'json' }
    })
    builder.onLoad({ filter: /@aws-sdk\/core\/.*\/partitions\.js$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(/"regions": \{([^{}]|\{[^{}]*\})*\}/g, '"regions": {}'),
    }))
    builder.onResolve({ filter: /\/(\w+)$/ }, ({ path, importer }) => {
      const replacement = importer.includes('/@smithy/core/') && replacements.get(basename(path))
      return replacement ? { path: join(root, 'shared/aws', replacement) } : undefined
    })
  },
}

/** The modules of @smithy/core that are replaced, by name. */
const replacements = new Map([
  ['Sha256Js', 'no-hashes-in-javascript.ts'],
  ['Md5Js', 'no-hashes-in-javascript.ts'],
  ['fromSharedConfigFiles', 'no-host-configuration.ts'],
  ['getInstanceMetadataRegion', 'no-host-configuration.ts'],
  ['AdaptiveRetryStrategy', 'no-host-configuration.ts'],
])

/**
 * Drops what esbuild keeps although nobody uses it, as it cannot know that it has no effect: schemas of
 * valibot, whose own marks esbuild reads only within one file, and modules that nobody imports for an effect.
 * A function that counts no money then has no big.js.
 */
const dropUnused: Plugin = {
  name: 'drop-unused',
  setup(builder) {
    builder.onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: readFileSync(path, 'utf8').replaceAll(schemaCall, '/* @__PURE__ */ $&'),
      loader: 'ts',
    }))
    builder.onResolve(
      { filter: /^big\.js$|^@aws-lambda-powertools\/|\/money\.ts$/ },
      ({ path, ...options }) => {
        if (options.pluginData === 'resolving') return undefined
        return builder
          .resolve(path, { ...options, pluginData: 'resolving' })
          .then((found) => ({ ...found, sideEffects: false }))
      },
    )
  },
}

/** A call of valibot that makes a schema, or a part of one. */
const schemaCall = /\bv\.(?!parse\b|safeParse\b|is\b)\w+(?=[<(])/g

/**
 * Leaves out the schemas that a function does not use. esbuild keeps what has computed keys, because such a
 * key might have an effect, so they are written out. Of the errors of a service, only those that our code
 * imports are registered, and those that the SDK retries because of their class; it throws any other as the
 * base class of the service, with the same name and status.
 */
function trimSchemas(): Plugin {
  const imported = importedNames()
  return {
    name: 'trim-schemas',
    setup(builder) {
      builder.onLoad({ filter: /@aws-sdk\/client-[^/]+\/dist-es\/schemas\/schemas_0\.js$/ }, ({ path }) => {
        const source = readFileSync(path, 'utf8')
        const errors = readFileSync(join(dirname(path), '../models/errors.js'), 'utf8')
        const retried = [...errors.matchAll(/class (\w+) [^}]*\$retryable/g)].map(([, name]) => name)
        const texts = new Map(
          [...source.matchAll(/^const (_\w+) = ("[^"]*");$/gm)].map(([, name, text]) => [name, text]),
        )
        const contents = source
          .replaceAll(/\[(_\w+)\]:/g, (key, name: string) => (texts.has(name) ? `${texts.get(name)}:` : key))
          .replaceAll(/^n0_registry\.registerError\(\w+\$, (\w+)\);$/gm, (statement, name: string) =>
            imported.has(name) || retried.includes(name) ? statement : '',
          )
        return { contents, loader: 'js' }
      })
    },
  }
}

/** The names that our functions import from the clients of AWS. */
const importedNames = (): Set<string> =>
  new Set(
    globSync('{functions,shared}/**/*.ts', { cwd: root })
      .flatMap((file) => [
        ...readFileSync(join(root, file), 'utf8').matchAll(/^import \{([^}]*)\} from '@aws-sdk\/client-/gm),
      ])
      .flatMap(([, names = '']) => names.split(',').map((name) => name.trim())),
  )
