import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { bundleAuthorizationPage, renderIndex } from '../../../infra/bundle/page.ts'
import { pagePolicy } from '../../../infra/authorization-page-headers.ts'
import { newDirectory } from '../../support/new-directory.ts'

const directory = newDirectory()
let index: string
beforeAll(async () => {
  await mkdir(join(directory, 'assets'))
  await writeFile(join(directory, 'assets', 'main-EARLIER1.js'), '')
  await bundleAuthorizationPage(directory)
  index = await readFile(join(directory, 'index.html'), 'utf8')
})

describe('the bundle of the authorization page', () => {
  it('the authorization page is index.html, a script, a stylesheet and an icon, nothing older', async () => {
    const files = (await readdir(directory, { recursive: true })).sort()
    expect(files.map((file) => file.replace(/-[A-Z0-9]{8}/, ''))).toEqual([
      'assets',
      'assets/icon.svg',
      'assets/main.js',
      'assets/page.css',
      'index.html',
    ])
    for (const file of files.filter((name) => name.startsWith('assets/')))
      expect(index).toContain(`"${file}"`)
  })

  it('the authorization page has no inline script or style, which its Content-Security-Policy would block', () => {
    expect(index).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/)
    expect(index.match(/<script[^>]*>[^<]/)).toBeNull()
  })

  it('the authorization page’s bundle loads nothing from other sites', async () => {
    for (const file of await readdir(join(directory, 'assets'))) {
      const text = await readFile(join(directory, 'assets', file), 'utf8')
      expect(text.match(/https?:\/\/[^"'`\s)]+/g) ?? []).toSatisfy((addresses: string[]) =>
        addresses.every((address) => address === 'http://www.w3.org/2000/svg'),
      )
    }
  })

  it('renderIndex puts the API’s address into the page and into its Content-Security-Policy', () => {
    const rendered = renderIndex(index, 'https://api.example')
    expect(rendered).toContain('content="connect-src https://api.example"')
    expect(rendered).toContain('name="base-url" content="https://api.example"')
    expect(rendered).not.toContain('%')
  })
})

describe('the page’s Content-Security-Policy', () => {
  const policy = pagePolicy('https://api.example')

  it('has no unsafe source', () => {
    expect(policy).not.toMatch(/unsafe|\*/)
    expect(policy.split('; ')).toContain("default-src 'none'")
  })

  it('forbids framing', () => {
    expect(policy.split('; ')).toContain("frame-ancestors 'none'")
  })

  it('lets the page call the API', () => {
    expect(policy.split('; ')).toContain('connect-src https://api.example')
  })
})
