import { join } from 'node:path'
import { bundleByDefault } from '../bundles/build-bundles.ts'
import type { Options } from '../part.ts'
import { installPackages, type PackageName } from './install-packages.ts'

/** Frameworks in which the endpoint GET /account/info is written again, with the packages that each needs. */
const frameworks: Record<string, { source: string; packages: PackageName[] }> = {
  'express, @codegenie/serverless-express': {
    source: 'express-account-info',
    packages: ['express', '@codegenie/serverless-express'],
  },
  'hono, its Lambda adapter': { source: 'hono-account-info', packages: ['hono'] },
}

/** The bundles of the frameworks by their names, and the names of those that could not be installed. */
export interface Peers {
  files: Record<string, string>
  absent: string[]
}

/** Installs the frameworks and bundles the endpoint in each by esbuild's defaults. */
export async function bundlePeers({ say }: Options, directory: string): Promise<Peers> {
  const peers: Peers = { files: {}, absent: [] }
  for (const [name, { source, packages }] of Object.entries(frameworks)) {
    const modules = await installPackages(packages, say)
    if (modules === undefined) {
      peers.absent.push(name)
      continue
    }
    await bundleByDefault({ [source]: `test/bench/peers/${source}.mjs` }, directory, modules)
    peers.files[name] = join(directory, `${source}.cjs`)
  }
  return peers
}
