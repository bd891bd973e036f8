import { build } from 'esbuild'
import { globSync } from 'node:fs'
import { join } from 'node:path'
import { builtinModulesByCall } from './builtin-modules.ts'
import { writeChanged } from './write-changed.ts'

const root = join(import.meta.dirname, '..')

/** Directory of a function's bundle; `entry` is its path under functions/, without `.ts`. */
export const bundleDirectory = (entry: string): string => join(root, 'dist', 'functions', entry)

/**
 * Bundles every function, each into one ES module with all that it needs, in one esbuild call: one call for each would
 * take a process start for each. The AWS SDK is bundled in: the runtime's own copy is larger and slower to load.
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
    // ES modules tree-shake; the SDK's CommonJS main does not.
    mainFields: ['module', 'main'],
    // What functions never use: the chain that looks for credentials elsewhere than in the environment, endpoint
    // discovery, and streams of events. Together they were a third of a bundle.
    alias: {
      '@aws-sdk/credential-provider-node': './shared/aws/no-credential-chain.ts',
      '@aws-sdk/endpoint-cache': './shared/aws/no-endpoint-cache.ts',
      '@smithy/core/event-streams': './shared/aws/no-event-streams.ts',
    },
    legalComments: 'none',
    plugins: [builtinModulesByCall],
    logLevel: 'warning',
    write: false,
  })
  await writeChanged(outputFiles)
}
