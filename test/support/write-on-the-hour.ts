import { beforeEach } from 'vitest'
import { db } from '../../shared/db/table.ts'

// Removes the pause of writes around full hours, which functions with a queue make. Otherwise, a test whose
// clock is near a full hour would wait until writes resume.
beforeEach(() => void db.middlewareStack.remove('restOnTheHour'))
