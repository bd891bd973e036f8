import { execFileSync, spawn } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { takeAttempts } from './unit-guard.ts'

it.each<[string, string, () => unknown]>([
  ['a process', 'start a process', () => spawn('true')],
  ['a process and waits for it', 'start a process', () => execFileSync('true')],
  ['a thread', 'start a thread', () => new Worker('1', { eval: true })],
  ['a connection', 'open a socket', () => connect(1)],
  ['a UDP socket', 'open a socket', () => createSocket('udp4')],
  ['a server', 'listen on a socket', () => createServer().listen(0)],
])('a unit test that starts %s fails, even if it catches the error', (_what, attempt, start) => {
  expect(start).toThrow(`a unit test must not ${attempt}`)
  // The forbidden calls are cleared here, so that this test itself does not fail.
  expect(takeAttempts()).toEqual([attempt])
})

it('a unit test that fetches fails, even if it catches the error', async () => {
  await expect(fetch('http://127.0.0.1:65000')).rejects.toThrow()
  expect(takeAttempts()).toEqual(['open a socket'])
})
