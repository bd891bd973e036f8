import { describe, expect, it } from 'vitest'
import { layOut, type Report } from '../../../infra/ops/report.ts'

const textOf = (report: Report, columns?: number) =>
  [...layOut(report, columns)].map(([line]) => line).join('\n')

const report: Report = {
  ok: false,
  verdict: '1 of 3 checks failed',
  sections: [
    {
      title: 'Failed',
      rows: [{ cells: ['mail', 'SES has verified neither a nor b: no mail can be sent'] }],
      tone: 'wrong',
    },
    { title: 'Skipped', rows: [] },
    {
      title: 'Passed',
      columns: ['CHECK', 'RESULT'],
      rows: [
        { cells: ['API', 'answers'], below: 'arn:aws:lambda:eu-west-1' },
        { cells: ['page', 'answers'] },
      ],
      tone: 'well',
    },
  ],
}

describe('a report', () => {
  it('a report begins with the verdict, and has a table for each section that has rows', () => {
    expect(textOf(report)).toBe(
      [
        '1 of 3 checks failed',
        '',
        'Failed',
        '  mail  SES has verified neither a nor b: no mail can be sent',
        '',
        'Passed',
        '  CHECK  RESULT',
        '  API    answers',
        '    arn:aws:lambda:eu-west-1',
        '  page   answers',
      ].join('\n'),
    )
  })

  it('on a screen, a report’s long texts are broken between words, in their column', () => {
    const lines = textOf(report, 40).split('\n')
    expect(lines.slice(3, 5)).toEqual([
      '  mail  SES has verified neither a nor',
      '        b: no mail can be sent',
    ])
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(40)
  })

  it('on a screen, an ARN that is longer than a line is not broken', () => {
    const arn = `arn:aws:kms:eu-west-1:000000000000:key/${'0'.repeat(36)}`
    const keys = { ok: true, verdict: 'A key signs', sections: [{ rows: [{ cells: ['one'], below: arn }] }] }
    expect(textOf(keys, 60)).toContain(arn)
  })

  it('a line feed or an escape sequence in a report does not change the layout', () => {
    const row = { cells: ['a\nPassed', '\u001b[2J'], below: 'x\ny' }
    expect(textOf({ ok: true, verdict: 'v', sections: [{ rows: [row] }] }).split('\n')).toEqual([
      'v',
      '',
      String.raw`  a\u000aPassed  \u001b[2J`,
      String.raw`    x\u000ay`,
    ])
  })

  it('only rows of a section with a tone, the verdict and the titles are decorated', () => {
    expect([...layOut(report)].map(([, tone]) => tone)).toEqual([
      'something wrong',
      undefined,
      'title',
      'wrong',
      undefined,
      'title',
      'title',
      'well',
      undefined,
      'well',
    ])
  })
})
