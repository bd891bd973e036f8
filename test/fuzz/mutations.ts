import type { Random } from '../support/random.ts'
import { type Change, type Draft, encodeText } from './draft.ts'
import { drawMarker, drawText, edgeTexts } from './texts.ts'

/** Sizes around the largest body that the service reads, and far above it. */
const bodySizes = [65_535, 65_536, 65_537, 200_000]

const nest = (depth: number, inner: string): string => '['.repeat(depth) + inner + ']'.repeat(depth)

/** Draws the JSON text of a value of any type. */
function drawJson(random: Random): string {
  const text = JSON.stringify(random.happens(0.5) ? drawText(random) : random.pick(edgeTexts))
  return random.pick([
    ...[text, text, text, text, 'null', 'true', 'false', '{}', '[]', `[${text}]`, `{"value":${text}}`],
    ...['0', '-0', '1', '-1', '1.0', '1e0', '1.5', '1e400', '-1e400', '5e-324', '1e21', '0.1', '12E2'],
    ...['9007199254740991', '9007199254740992', '9223372036854775808', '123456789012345678901234567890'],
    ...['999999999999', '1000000000000', '2147483648', '1002', '1002.0', '"1002"', '"01002"', '" 1002"'],
    nest(2_000, text),
    `{"__proto__":${text},"constructor":{"prototype":${text}}}`,
    `[${Array.from({ length: 3_000 }, () => '0').join(',')}]`,
  ])
}

/** Sets a header of a request, instead of the one that it has. */
export const setHeader = ({ headers }: Draft, name: string, value: string): void => {
  const at = headers.findIndex(([known]) => known === name)
  headers.splice(at === -1 ? headers.length : at, at === -1 ? 0 : 1, [name, value])
}

const dropHeader = (draft: Draft, name: string): void => {
  draft.headers = draft.headers.filter(([known]) => known !== name)
}

/** Changes a drawn parameter of the query; adds one to an empty query. */
function changeQuery({ query }: Draft, random: Random, value: string): void {
  const at = random.below(query.length)
  query[at] = [query[at]?.[0] ?? 'current', value]
}

function changeMember({ members }: Draft, random: Random, json: string): void {
  if (members === undefined || members.length === 0) return
  const at = random.below(members.length)
  members[at] = [members[at]?.[0] ?? '', json]
}

const inQuery: Change[] = [
  (draft, random) => changeQuery(draft, random, encodeText(random.pick(edgeTexts)).slice(0, 6_000)),
  (draft, random) => changeQuery(draft, random, encodeText(random.pick(edgeTexts)).slice(0, 6_000)),
  (draft, random) => changeQuery(draft, random, encodeText(drawText(random)).slice(-6_000)),
  (draft, random) => changeQuery(draft, random, ''),
  (draft, random) =>
    changeQuery(
      draft,
      random,
      random.pick([
        '%',
        '%zz',
        '%00',
        '%ff%fe',
        '%c0%af',
        '%ed%a0%80',
        '%u0041',
        '+',
        '%2B1',
        ';',
        ',',
        '1,2',
      ]),
    ),
  ({ query }, random) => query.splice(random.below(query.length), 1),
  ({ query }, random) => query.push(...query.slice(0, 1 + random.below(3))),
  ({ query }, random) => query.push([query[0]?.[0] ?? 'size', drawMarker(random)]),
  ({ query }, random) => {
    const marker = drawMarker(random)
    const names = [marker, '__proto__', 'constructor', 'Size', 'size[]', 'a[b][c][d]', '', '%00', 'size%20']
    query.push([random.pick(names), marker])
  },
  ({ query }, random) =>
    query.push(...Array.from({ length: 200 }, (_, i): [string, string] => [`p${i}`, drawMarker(random)])),
]

const inBody: Change[] = [
  (draft, random) => changeMember(draft, random, drawJson(random)),
  (draft, random) => changeMember(draft, random, drawJson(random)),
  (draft, random) => changeMember(draft, random, drawJson(random)),
  (draft, random) => changeMember(draft, random, JSON.stringify(random.pick(edgeTexts))),
  ({ members }, random) => members?.splice(random.below(members.length), 1),
  ({ members }, random) => members?.push(...members.slice(0, 1 + random.below(3))),
  ({ members }, random) => members?.unshift([members.at(-1)?.[0] ?? 'id', drawJson(random)]),
  ({ members }, random) =>
    members?.push([
      random.pick([drawMarker(random), '__proto__', 'constructor', 'prototype', '', 'ID', 'toString']),
      random.pick([drawJson(random), '{"prototype":{"admin":true}}', '{"admin":true}']),
    ]),
  ({ members }, random) => members?.push([drawMarker(random), nest(20_000, '0')]),
]

/** Changes of a body as a whole. */
export const ofBody: Change[] = [
  ({ rewrites }, random) => {
    const size = random.pick(bodySizes)
    rewrites.push((body) =>
      body.replace(/\}$/, `${' '.repeat(Math.max(0, size - Buffer.byteLength(body)))}}`),
    )
  },
  ({ rewrites }, random) => {
    const marker = drawMarker(random)
    const others = ['', ' ', 'null', '0', `"${marker}"`, `[{"id":"${marker}"}]`, 'true', `{"${marker}`, '{}']
    rewrites.push(() => random.pick(others))
  },
  ({ rewrites }) => rewrites.push((body) => `\ufeff${body}`),
  ({ rewrites }) => rewrites.push((body) => `${body} ,`),
  ({ rewrites }) => rewrites.push((body) => body.slice(0, -2)),
  ({ rewrites }) => rewrites.push((body) => `${body}${body}`),
  ({ rewrites }) => rewrites.push((body) => body.replaceAll('"', "'")),
  ({ rewrites }) => rewrites.push((body) => Buffer.concat([Buffer.from(body), Buffer.from([0xff, 0xc0])])),
  ({ rewrites }) => rewrites.push((body) => Buffer.from(body, 'utf16le')),
  ({ rewrites }) => rewrites.push((body) => body.replace(/"\w+"$/, '"\\ud83d"')),
]

const contentTypes = [
  ...['application/json; charset=utf-8', 'APPLICATION/JSON', 'application/json;charset="utf-16"'],
  ...['application/vnd.api+json', 'text/json', 'text/plain', 'multipart/form-data; boundary=x', 'json', ''],
  ...['application/json, text/plain', 'application/x-www-form-urlencoded', 'application/jsonx', '*/*'],
  ...['application/json;', ' application/json', 'application/x-www-form-urlencoded; charset=UTF-8'],
]

/** Names of headers that mean something somewhere, if not here. */
const strangeNames = [
  ...[
    'accept-charset',
    'accept-encoding',
    'accept-language',
    'cloudfront-viewer-address',
    'content-language',
  ],
  ...['dpop', 'forwarded', 'from', 'if-match', 'if-modified-since', 'if-range', 'max-forwards', 'prefer'],
  ...['priority', 'referer', 'sec-fetch-site', 'traceparent', 'via', 'x-api-key', 'x-forwarded-host'],
  ...['x-forwarded-port', 'x-forwarded-proto', 'x-real-ip', 'x-request-id', 'x-requested-with'],
]
const strangeValues = (marker: string): string[] => [
  ...[marker, '', '-1', '%00', '"', ';;,,==', 'q=;q=NaN', `{"${marker}":1}`, `${marker}\u00ff`, '__proto__'],
  ...[`${'a'.repeat(3_000)}${marker}`, `for=${marker};proto=https;;`, '2001:db8::1', '99999999999999999999'],
]

/** Sets every fifth of the strange headers, beginning with one of them. */
const setStrangeHeaders =
  (first: number): Change =>
  (draft, random) => {
    for (const [i, name] of strangeNames.entries())
      if (i % 5 === first) setHeader(draft, name, random.pick(strangeValues(drawMarker(random))))
  }

/** Tricks with headers. */
export const inHeaders: Change[] = [
  (draft, random, { strangers }) => setHeader(draft, 'authorization', random.pick(strangers)),
  (draft, random) => setHeader(draft, 'authorization', `Bearer ${drawMarker(random)}`),
  (draft, random) => setHeader(draft, 'authorization', `Bearer ${drawMarker(random).repeat(100)}\u00e9`),
  (draft) => dropHeader(draft, 'authorization'),
  ({ headers }, random, { callers }) => headers.push(['authorization', random.pick(callers)]),
  (draft, random) => setHeader(draft, 'content-type', random.pick(contentTypes)),
  (draft) => dropHeader(draft, 'content-type'),
  ({ headers }) => headers.push(['content-type', 'application/json']),
  (draft, random) =>
    setHeader(
      draft,
      'accept',
      random.pick([
        'text/csv',
        'text/csv;q=0',
        'text/csv, application/json;q=0.5',
        '*/*',
        'text/html',
        ';;;',
        'q=1',
      ]),
    ),
  (draft, random) =>
    setHeader(
      draft,
      'if-none-match',
      random.pick(['*', '"x"', 'W/"x", "y"', '"', `"${drawMarker(random)}"`]),
    ),
  (draft, random) => setHeader(draft, 'cookie', `session=${drawMarker(random)}; __proto__=1`),
  (draft, random) => setHeader(draft, 'x-forwarded-for', `${drawMarker(random)}, 10.0.0.1`),
  (draft, random) => setHeader(draft, 'user-agent', `${drawMarker(random)}\u00e9'"<>`),
  (draft, random) => setHeader(draft, 'origin', `https://${drawMarker(random)}.example`),
  (draft, random) => setHeader(draft, 'x-amzn-trace-id', `Root=${drawMarker(random)}`),
  (draft, random) =>
    setHeader(draft, 'x-http-method-override', random.pick(['DELETE', 'GET', drawMarker(random)])),
  (draft, random) => setHeader(draft, 'x-origin-secret', drawMarker(random)),
  (draft) => setHeader(draft, 'content-encoding', 'gzip'),
  (draft, random) => setHeader(draft, drawMarker(random), drawMarker(random)),
  (draft) => setHeader(draft, 'range', 'bytes=0-1'),
  (draft) => setHeader(draft, 'if-none-match', '*'),
  ...[0, 1, 2, 3, 4, 0, 1, 2, 3, 4].map(setStrangeHeaders),
  // A body that nobody asked for.
  (draft, random) => (draft.members ??= [[drawMarker(random), JSON.stringify(drawText(random))]]),
  (draft, random) => (draft.members ??= [[drawMarker(random), JSON.stringify('x'.repeat(70_000))]]),
]

const inPath: Change[] = [
  (draft, random) =>
    (draft.method = random.pick(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])),
  (draft, random) =>
    (draft.path += random.pick(['/', '//', `/${drawMarker(random)}`, '%2f', '%00', '.', ';a=b'])),
  (draft, random) =>
    (draft.path = random.pick(['/', '//', `/${drawMarker(random)}`, draft.path.toUpperCase()])),
  (draft, random) =>
    (draft.path = draft.path.replace(
      /[^/]+$/,
      random.pick(['', '..', '%2e%2e', drawMarker(random), '%ff', '%']),
    )),
  (draft) => (draft.path = draft.path.replace('/', '/%2e/')),
]

/** What may be done to a request: its parameters and its body most often. */
export const mutationsOf = ({ method, members = [] }: Draft): readonly Change[] => [
  ...inQuery,
  ...(method === 'GET' ? inQuery : []),
  ...(members.length === 0 ? [] : [...inBody, ...inBody, ...ofBody]),
  ...inHeaders,
  ...inPath,
]
