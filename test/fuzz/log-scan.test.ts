import { appendFileSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { LogScan } from './log-scan.ts'

function openLog() {
  const directory = mkdtempSync(join(tmpdir(), 'log-scan-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const file = join(directory, 'functions.log')
  return { file, scan: new LogScan(file), log: (text: string) => appendFileSync(file, text) }
}

it.each([
  'zq0123456789ab',
  'ZQ0123456789AB',
  'alice@example.com',
  'a***e@fuzz.example',
  `at_16.${'A'.repeat(22)}.${'B'.repeat(43)}`,
  `lt_16.${'A'.repeat(43)}`,
  'eyJhbGciOiJSUzI1NiJ9.e30.c2ln',
  'Basic ZGVtby1hcHA6c2VjcmV0',
  String.raw`{\"client_id\":\"demo-app\",\"code_verifier\": \"…`,
  'grant_type=authorization_code&client_secret=c',
])('a log line with %s is found, once', (secret) => {
  const { scan, log } = openLog()
  log(`{"level":"INFO","failure":"bad_login_ticket","limit":"codes"}\n{"text":"${secret}"}\n`)
  expect(scan.next()).toEqual([`{"text":"${secret}"}`])
  log('{"level":"INFO"}\n')
  expect(scan.next()).toEqual([])
})

it('a log line is found that is written in two parts, or before the log begins a new file', () => {
  const { file, scan, log } = openLog()
  log('one zq01234567')
  expect(scan.next()).toEqual([])
  log('89ab\n')
  expect(scan.next()).toEqual(['one zq0123456789ab'])
  log('two zq0123456789ab\n')
  renameSync(file, `${file}.previous`)
  log('three zq0123456789ab\n')
  expect(scan.next()).toEqual(['two zq0123456789ab', 'three zq0123456789ab'])
})
