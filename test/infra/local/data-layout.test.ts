import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkDataLayout } from '../../../infra/local/data-layout.ts'
import { StartupError } from '../../../infra/local/startup-error.ts'

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'data-layout-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

test('a data directory of this version is accepted again', () => {
  checkDataLayout(directory)
  mkdirSync(join(directory, 'dynamodb'))
  expect(() => checkDataLayout(directory)).not.toThrow()
})

test('a data directory of an earlier version is refused by name', () => {
  mkdirSync(join(directory, 'dynamodb'))
  expect(() => checkDataLayout(directory)).toThrow(StartupError)
  expect(() => checkDataLayout(directory)).toThrow(directory)
  writeFileSync(join(directory, 'layout'), '1')
  expect(() => checkDataLayout(directory)).toThrow(StartupError)
})
