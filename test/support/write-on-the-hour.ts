import { beforeEach } from 'vitest'
import { db } from '../../shared/db/table.ts'

// Functions with a queue pause their writes around full hours. Tests remove this pause, because a test whose
// clock is near a full hour would have to wait. A test that reloads modules must remove it again.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))
