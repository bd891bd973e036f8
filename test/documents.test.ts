import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { endpointFunctions } from '../infra/endpoint-functions.ts'
import { events } from '../infra/events.ts'

const root = join(import.meta.dirname, '..')
const documents = globSync('**/*.md', { cwd: root, exclude: ['node_modules/**', 'dist/**', '.local/**'] })

/** Returns the anchor that Git hosting sites generate for a Markdown heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .replaceAll(/\s/g, '-')

const anchorsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

const readJson = (file: string) => JSON.parse(readFileSync(join(root, file), 'utf8')) as unknown
const { scripts } = readJson('package.json') as { scripts: object }
const { stages } = (readJson('cdk.json') as { context: { stages: object } }).context
const cdk = readJson('node_modules/aws-cdk/lib/cli/cli-type-registry.json') as {
  commands: Record<string, { options: object }>
  globalOptions: object
}

describe.each(documents)('the document %s', (document) => {
  const text = readFileSync(join(root, document), 'utf8')
  const links = [...text.matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, link = '']) => link)

  it('every relative link of a document leads to an existing file and heading', () => {
    for (const link of links) {
      const [path = '', anchor] = link.split('#')
      const file = path === '' ? join(root, document) : join(root, dirname(document), path)
      expect(existsSync(file), `${link} leads nowhere`).toBe(true)
      if (anchor !== undefined) expect(anchorsOf(file), `${link}: no such heading`).toContain(anchor)
    }
  })

  it('a document names only source paths that exist', () => {
    const paths = [
      ...text.matchAll(/(?:^|[\s`("])((?:functions|shared|infra|test)\/[\w./-]+\.(?:ts|mjs|md))/gm),
      ...text.matchAll(/`((?:functions|shared|infra|test)\/[\w./-]+)`/g),
    ]
    for (const [, path = ''] of paths) expect(existsSync(join(root, path)), path).toBe(true)
  })

  it('every npm script, CDK command, CDK option and stage that a document names exists', () => {
    for (const [, script = ''] of text.matchAll(/npm run ([\w:]+)/g))
      expect(Object.keys(scripts)).toContain(script)
    for (const [, stage] of text.matchAll(/-c stage=([a-z]+)/g)) expect(Object.keys(stages)).toContain(stage)
    for (const [line, command = ''] of text.matchAll(/npm run cdk -- (\w+)[^`\n]*/g)) {
      const options = { ...cdk.globalOptions, ...cdk.commands[command]?.options }
      expect(Object.keys(cdk.commands), line).toContain(command)
      for (const [, option] of line.matchAll(/ --([\w-]+)/g))
        expect(Object.keys(options), line).toContain(option)
    }
  })
})

const [readme, capacity] = ['README.md', 'infra/CAPACITY.md'].map((file) =>
  readFileSync(join(root, file), 'utf8'),
) as [string, string]
const numbersOf = (pattern: RegExp, text: string): number[] =>
  pattern.exec(text)?.slice(1).map(Number).map(Math.round) ?? expect.unreachable(`nothing matches ${pattern}`)

it('sentences of the README and of CAPACITY.md name the cost of an idle stage as its table does', () => {
  const [dev, prod] = numbersOf(/\| together \| \$([\d.]+) \| \$([\d.]+) \|/, capacity)
  expect(numbersOf(/\$(\d+) a month for `dev` and \$(\d+) for `prod`/, readme)).toEqual([dev, prod])
  expect(numbersOf(/a month, \$(\d+) of them for being there/, readme)).toEqual([prod])
  expect(numbersOf(/an idle stage\]\(#an-idle-stage\), such as \$(\d+) for `prod`/, capacity)).toEqual([prod])
})

it('CAPACITY.md has what a call of every endpoint and every event costs', () => {
  const endpoints = endpointFunctions().map(({ routes: [route] }) => `${route?.method} ${route?.path}`)
  const measured = [...capacity.matchAll(/^\| ([^|,]+?)(?:, [^|]*)? +\|/gm)].map(([, operation]) => operation)
  const all = [...endpoints, ...events.map(({ detailType }) => detailType)]
  expect(
    all.filter((operation) => !measured.includes(operation)),
    'npm run bench -- --short --part operations --write',
  ).toEqual([])
})
