import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const documents = globSync('**/*.md', { cwd: root, exclude: ['node_modules/**', '.local/**'] })

/** Returns the anchor that Git hosting sites generate for a Markdown heading. */
const anchorOf = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s-]/gu, '')
    .replaceAll(/\s/g, '-')

const anchorsOf = (file: string): string[] =>
  [...readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))

describe.each(documents)('%s', (document) => {
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

  it('every source path that a document names exists', () => {
    const paths = [
      ...text.matchAll(/(?:^|[\s`("])((?:functions|shared|infra|test)\/[\w./-]+\.(?:ts|mjs|md))/gm),
    ]
    for (const [, path = ''] of paths) expect(existsSync(join(root, path)), path).toBe(true)
  })
})
