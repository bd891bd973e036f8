import { vi } from 'vitest'

// Functions with a queue pause their writes around full hours. Tests remove this pause, because a test whose
// clock is near a full hour would have to wait.
vi.mock(import('../../shared/db/rest.ts'), async (load) => ({ ...(await load()), restOnTheHour: () => {} }))
