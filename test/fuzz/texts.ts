import type { Random } from '../support/random.ts'

/** What every hostile text holds, so that answers and log lines can be searched for what was sent. */
export const markerShape = /zq[0-9a-f]{12}/g

/** Draws a new marker. */
export const drawMarker = (random: Random): string =>
  `zq${Array.from({ length: 12 }, () => random.below(16).toString(16)).join('')}`

/** Hostile texts around a marker: for parsers, databases, spreadsheets, terminals and people. */
const disguises: ((marker: string) => string)[] = [
  (marker) => marker,
  (marker) => ` ${marker}\t`,
  (marker) => `\u0000${marker}\u0001`,
  (marker) => `${marker}\r\nset-cookie: ${marker}=1`,
  (marker) => `${marker}\ud800`,
  (marker) => `\udfff${marker}`,
  (marker) => `e\u0301\u0327${marker}\u200b\u200d`,
  (marker) => `\u202e${marker}\u2066`,
  (marker) => `\ufeff${marker}\ufffe`,
  (marker) => `İıßſﬃ㍿ﷺ${marker}`,
  (marker) => `${'😀'.repeat(20)}${marker}`,
  (marker) => `"'<script>${marker}</script>\\`,
  (marker) => `=HYPERLINK("http://${marker}")`,
  (marker) => `../../${marker}%2e%2e%2f\${jndi:ldap://${marker}}`,
  (marker) => `' OR 1=1; -- ${marker}`,
  (marker) => `USER#${marker}#*`,
  (marker) => `${marker}${'9'.repeat(300)}`,
  (marker) => `${'x'.repeat(5000)}${marker}`,
  (marker) => `${'㍿'.repeat(240)}${marker}`,
  (marker) => `${marker}@fuzz.example`,
  (marker) => `${'㍿'.repeat(200)}${marker}@fuzz.example`,
  (marker) => `${'a'.repeat(254 - 27)}${marker}@fuzz.example`,
  (marker) => `${'a'.repeat(255 - 27)}${marker}@fuzz.example`,
  (marker) => `\ud800${marker}@fuzz.example`,
]

/** Draws a hostile text that holds a new marker. */
export const drawText = (random: Random): string => random.pick(disguises)(drawMarker(random))

/** Texts at the limits of numbers, dates, codes and lengths. */
export const edgeTexts: readonly string[] = [
  ...['', ' ', '0', '-0', '1', '2', '3', '-1', '+1', '01', '1.0', '1e0', '0x1', '१', '20', '21', '٢'],
  ...['2147483647', '2147483648', '9007199254740991', '9007199254740992', '9999999999999999', '1e400', 'NaN'],
  ...['2026-02-28', '2026-02-29', '2024-02-29', '2026-13-01', '2026-1-1', '2026-01-01T00:00:00Z'],
  ...['0000-01-01', '0000-12-31', '0001-01-01', '0001-01-05', '0099-01-01', '1969-12-31', '1970-01-01'],
  ...['9999-12-31', '10000-01-01', '-0001-01-01', '２０２６-01-01'],
  ...['12345', '123456', '1234567', '１２３４５６', 'a'.repeat(31), 'a'.repeat(32), 'A'.repeat(33)],
  ...['n'.repeat(20), 'n'.repeat(21), '😀'.repeat(20), '😀'.repeat(21), `  ${'n'.repeat(20)}  `],
  ...['a'.repeat(40), 'a'.repeat(41), '😀'.repeat(40), 't'.repeat(128), 't'.repeat(129), '😀'.repeat(128)],
  ...['k'.repeat(254), 'k'.repeat(255), '😀'.repeat(254), '😀'.repeat(255)],
  ...['n'.repeat(1024), 'n'.repeat(1025), 's'.repeat(4096), 's'.repeat(4097), '😀'.repeat(1024)],
  ...['null', 'true', '[]', '{}', '__proto__', 'constructor', 'hasOwnProperty', 'undefined', '*', '%', '#'],
]
