import { expect, it } from 'vitest'
import { readCopies } from '../../../../infra/ops/audit/read-copies.ts'
import { serveHttp } from '../../../support/serve-http.ts'

// S3 is faked, because the local one answers with all copies at once.
it('the audit reads every page of copies, so that a captured rotation cannot hide one behind a thousand others', async () => {
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
