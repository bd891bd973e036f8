import { expect, it } from 'vitest'
import { readCopies } from '../../../../infra/ops/audit/read-copies.ts'
import { serveHttp } from '../../../support/serve-http.ts'

// The S3 endpoint is faked, because the local S3 returns all evidence copies on one page.
// So no copy can be hidden behind a thousand other copies.
it('the audit reads every page of evidence copies', async () => {
  const pages = ['<Key>evidence/a</Key><IsTruncated>true</IsTruncated>', '<Key>evidence/b</Key>']
  const markers: (string | null)[] = []
  const names = await serveHttp(
    ({ url = '' }, response) => {
      markers.push(new URL(url, 'http://s3').searchParams.get('key-marker'))
      response.end(pages.shift())
    },
    (url) => readCopies(`${url}/`),
  )
  expect(names).toEqual(['evidence/a', 'evidence/b'])
  expect(markers).toEqual(['', 'evidence/a'])
})
