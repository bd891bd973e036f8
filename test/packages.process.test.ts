import { build } from 'esbuild'
import { globSync } from 'node:fs'
import { expect, it } from 'vitest'

const aws = ['client-dynamodb', 'lib-dynamodb', 'client-kms'].map((name) => `@aws-sdk/${name}`)
const middy = ['@middy/core', '@middy/http-json-body-parser']

it.each([
  ['the deployed functions', 'functions/**/*.ts', [...aws, ...middy, 'jose', 'valibot']],
  ['the deployment', 'infra/stacks/app.ts', ['aws-cdk-lib', 'esbuild']],
  ['the test runner', 'vitest.config.ts', ['vitest']],
])('the source files of %s (%s) import every package in the list %j', async (_part, entries, names) => {
  const { metafile } = await build({
    entryPoints: globSync(entries),
    // Collects the imports of our own files, not those of packages. Imports of types do not count.
    packages: 'external',
    bundle: true,
    platform: 'node',
    format: 'esm',
    outdir: 'dist',
    write: false,
    metafile: true,
  })
  const imports = Object.values(metafile.inputs).flatMap((file) => file.imports)
  const isUsed = (name: string) => imports.some(({ path }) => path === name || path.startsWith(`${name}/`))
  expect(names.filter((name) => !isUsed(name))).toEqual([])
})
