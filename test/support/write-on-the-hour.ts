import { beforeEach } from 'vitest'
import { db } from '../../shared/db/table.ts'

// Lets functions that have a queue write at any time. Otherwise they would pause their writes around every
// full hour, and a test whose clock shows such a time would have to wait.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))
