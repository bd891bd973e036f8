import { beforeEach } from 'vitest'
import { db } from '../../shared/db/table.ts'

// Functions with a queue pause their writes around every full hour. A test that sets the clock to such a time
// must not wait for that.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))
