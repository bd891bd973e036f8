import { beforeEach } from 'vitest'
import { db } from '../../shared/db/table.ts'

// The module of a function with a queue makes the table's client pause writes around every full hour. A test
// that sets the clock must not wait only because that time happens to be near a full hour.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))
