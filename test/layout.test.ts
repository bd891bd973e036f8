import { existsSync, globSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')

/** Source folders whose tests are in folders with the same path below `test`. */
const topFolders = ['functions', 'shared', 'infra']

/** Test folders and tests that belong to no source file, each with its subject. */
const subjects = {
  browser: 'the pages in a real browser',
  faults: 'faults at every point of an operation',
  flows: 'what a client does over several endpoints',
  'infra/grants': 'that every function needs each of its grants, and no other',
  'infra/local/aws': 'the AWS endpoint, operation by operation',
  'infra/runbook': 'the procedures of the runbook',
}

/** Path of a test file, without `test/` and suffix. */
const subjectOf = (file: string): string => file.replace(/(\.(template|process|table|stack))?\.test\.ts$/, '')

const files = globSync('**/*.test.ts', { cwd: import.meta.dirname })
const tests = files.map((file) => ({ file, path: subjectOf(file) }))
const isAbout = (subject: string, path: string) => path === subject || path.startsWith(`${subject}/`)

/** Whether there is a file, folder or document of this name (`infra/runbook` names infra/RUNBOOK.md). */
const isSource = (path: string) =>
  ['.ts', '.mjs', ''].some((extension) => existsSync(join(root, path + extension))) ||
  existsSync(join(root, dirname(path), `${basename(path).toUpperCase()}.md`))

const mirrors = (path: string) =>
  topFolders.includes(path.split('/')[0] ?? '') &&
  // If a source file `a/b.ts` has several test files, they are in the folder `test/a/b`.
  (isSource(path) || existsSync(join(root, `${dirname(path)}.ts`)))

const rule = `a test is named after what it tests: test/a/b.test.ts (or b.template, b.process, …) tests the file a/b.ts
or the folder a/b, and test/a/b/c.test.ts is one of several tests of the file a/b.ts. Rename it, or add its folder to the
list of subjects in test/layout.test.ts`

it('every test of source code is named after the file or folder that it tests', () => {
  const lost = tests
    .filter(({ path }) => path.includes('/'))
    .filter(({ path }) => !Object.keys(subjects).some((subject) => isAbout(subject, path)))
    .filter(({ path }) => !mirrors(path))
  expect(
    lost.map(({ file }) => `test/${file}`),
    rule,
  ).toEqual([])
})

it('every function has a test of its own name', () => {
  const functions = globSync('functions/**/*.ts', { cwd: root }).map((file) => file.replace(/\.ts$/, ''))
  expect(
    functions.filter((path) => !tests.some((test) => isAbout(path, test.path))),
    'whoever reads functions/a/b.ts looks for test/functions/a/b.test.ts (or b.table, b.stack, …)',
  ).toEqual([])
})
