import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { functionEntries } from '../../../infra/bundle/functions.ts'
import type { Options } from '../part.ts'
import { round, type Table } from '../report/table.ts'
import { type Bundle, bundleByDefault, describeBundles } from './build-bundles.ts'

/** The functions whose largest inputs are printed: a read, the sign-in, an event, and a mail. */
const detailed = [
  'account/info',
  'user/login-with-password',
  'intake/wallet.adjusted',
  'intake/mail.requested',
]

const kilobytes = (bytes: number): number => round(bytes / 1000)

/** Measures the bundles of all functions, beside what esbuild makes of them by default. */
export async function measureBundles({ say }: Options): Promise<Table[]> {
  const ours = await describeBundles()
  const defaults = await bundleAllByDefault(say)
  return [
    {
      name: 'bundles',
      title: 'Bundles',
      notes: ["Default: the same source by esbuild's defaults for Node.js, minified. KB are 1,000 bytes."],
      rows: functionEntries().map((entry) => {
        const [own, other] = [ours.get(entry), defaults.get(entry)]
        if (own === undefined || other === undefined) throw new Error(`${entry} was not bundled`)
        return {
          function: entry,
          KB: kilobytes(own.bytes),
          modules: own.modules,
          'default KB': kilobytes(other.bytes),
          '× default': round(own.bytes / other.bytes, 3),
        }
      }),
    },
    {
      name: 'largest-inputs',
      title: 'The ten largest inputs of a bundle',
      notes: [],
      rows: detailed.flatMap((entry) =>
        (ours.get(entry)?.largest ?? []).map(({ input, bytes }) => ({
          function: entry,
          input: input.replace(/^.*node_modules\//, ''),
          KB: kilobytes(bytes),
          '% of bundle': round((100 * bytes) / (ours.get(entry)?.bytes ?? 1), 2),
        })),
      ),
    },
  ]
}

async function bundleAllByDefault(say: Options['say']): Promise<Map<string, Bundle>> {
  say("bundling by esbuild's defaults")
  const directory = mkdtempSync(join(tmpdir(), 'bench-bundles-'))
  try {
    const sources = functionEntries().map((entry) => [entry, `functions/${entry}.ts`])
    return await bundleByDefault(Object.fromEntries(sources) as Record<string, string>, directory)
  } finally {
    rmSync(directory, { recursive: true })
  }
}
