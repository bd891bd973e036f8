import { beforeEach } from 'vitest'
import { db } from '../../shared/db/table.ts'

// Lets functions that have a queue write around full hours, too. Otherwise, a test whose clock is near a full
// hour would wait until writes resume.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))
