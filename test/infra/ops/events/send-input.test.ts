import { describe, expect, it } from 'vitest'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { OutgoingEvent } from '../../../../infra/ops/events/batches.ts'
import { newProgress, openCheckpoint, type Progress } from '../../../../infra/ops/events/checkpoint.ts'
import { type Line, readLines } from '../../../../infra/ops/events/input.ts'
import { sendInput } from '../../../../infra/ops/events/send-input.ts'

const line = (number: number, size = 1) =>
  JSON.stringify({ 'detail-type': 'test.sent', detail: { id: number, text: 'x'.repeat(size) } })

async function* stream(text: string, chunk = 1_000) {
  for (let at = 0; at < text.length; at += chunk) yield Buffer.from(text.slice(at, at + chunk))
}

/** A fake event bus that records every request, and throws at request number `diesAt`. */
function fakeBus(diesAt = Infinity, refuse: (event: OutgoingEvent) => string | undefined = () => undefined) {
  const requests: OutgoingEvent[][] = []
  return {
    requests,
    ids: () => requests.flat().map(({ detail }) => (JSON.parse(detail) as { id: number }).id),
    put: async (events: OutgoingEvent[]) => {
      if (requests.length === diesAt) throw new Error('killed')
      requests.push(events)
      return events.map(refuse)
    },
  }
}

const send = (text: string, bus: ReturnType<typeof fakeBus>, progress: Progress, file?: string) =>
  sendInput({
    lines: readLines(stream(text.slice(progress.bytes)), { ...progress }),
    bus,
    findObstacle: ({ detailType }) => (detailType === 'test.sent' ? undefined : 'an obstacle'),
    progress,
    checkpoint: openCheckpoint(file),
    concurrency: 4,
    onProgress: () => undefined,
  })

describe('sendInput', () => {
  it('sendInput puts ten events into one request, and counts all events in the progress', async () => {
    const bus = fakeBus()
    const progress = newProgress()
    const text = Array.from({ length: 95 }, (_, index) => `${line(index)}\n`).join('')
    await send(text, bus, progress)
    expect(bus.requests.map((events) => events.length)).toEqual([10, 10, 10, 10, 10, 10, 10, 10, 10, 5])
    expect(progress).toMatchObject({
      lines: 95,
      bytes: text.length,
      sent: 95,
      types: { 'test.sent': 95 },
      refused: 0,
    })
  })

  it('a PutEvents request stays below the size that the bus accepts', async () => {
    const bus = fakeBus()
    await send(Array.from({ length: 6 }, (_, index) => line(index, 100_000)).join('\n'), bus, newProgress())
    expect(bus.requests.map((events) => events.length)).toEqual([2, 2, 2])
  })

  it('sendInput lists every line that cannot be sent with a reason, without its content', async () => {
    const bus = fakeBus(Infinity, ({ detail }) => (detail.includes('"id":8') ? 'MalformedDetail' : undefined))
    const progress = newProgress()
    const lines = [
      line(1),
      'secret',
      '[]',
      '{"detail":{}}',
      '{"detail-type":"test.sent","detail":7}',
      '{"detail-type":"never.heard","detail":{}}',
      '',
      line(8),
      line(9, 300_000),
      line(10),
    ]
    await send(lines.join('\n'), bus, progress)
    expect(progress).toMatchObject({ lines: 10, sent: 2, refused: 7 })
    expect(progress.refusals.sort((a, b) => a.line - b.line)).toEqual([
      { line: 2, reason: 'not JSON' },
      { line: 3, reason: 'detail-type is missing or not valid' },
      { line: 4, reason: 'detail-type is missing or not valid' },
      { line: 5, reason: 'detail is missing or not valid' },
      { line: 6, reason: 'an obstacle' },
      { line: 8, reason: 'the bus refused it: MalformedDetail' },
      { line: 9, reason: 'larger than the bus accepts' },
    ])
  })

  it.each([0, 1, 7, 30])(
    'after a crash at PutEvents request %i, sendInput loses no event and repeats at most 40',
    async (diesAt) => {
      const text = Array.from({ length: 400 }, (_, index) => `${line(index)}\n`).join('')
      const first = fakeBus(diesAt)
      const progress = newProgress()
      await expect(send(text, first, progress)).rejects.toThrow('killed')
      const second = fakeBus()
      const resumed = structuredClone(progress)
      await send(text, second, resumed)
      expect(resumed).toMatchObject({ lines: 400, sent: 400, run: progress.run })
      expect(new Set([...first.ids(), ...second.ids()]).size).toBe(400)
      // After a crash, only the requests that were in flight are sent again.
      expect(first.ids().length + second.ids().length - 400).toBeLessThanOrEqual(40)
    },
  )

  it('a saved checkpoint can be opened again from its file', async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'ops-')), 'progress')
    const progress = newProgress()
    await send(`${line(1)}\n${line(2)}\n`, fakeBus(), progress, file)
    expect(openCheckpoint(file).read()).toEqual(progress)
    openCheckpoint(file).remove()
    expect(openCheckpoint(file).read()).toBeUndefined()
  })
})

it.each([1, 2, 7, 1_000])('input lines are read whole from chunks of %i bytes', async (chunk) => {
  const text = 'a\n\nlänger\nohne Ende'
  const bytes = Buffer.from(text)
  async function* chunks() {
    for (let at = 0; at < bytes.length; at += chunk) yield bytes.subarray(at, at + chunk)
  }
  const lines: Line[] = []
  for await (const one of readLines(chunks())) lines.push(one)
  expect(lines.map(({ text: content }) => content)).toEqual(['a', '', 'länger', 'ohne Ende'])
  expect(lines.map(({ end }) => end)).toEqual([2, 3, 11, 20])
})
