// Import it for its effect, first of all: tests of a table in memory make and compare hundreds of passwords,
// and a digest of full strength takes a tenth of a second of a processor. Digests made here are weak, and
// match only here.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { argon2 } = crypto
crypto.argon2 = (algorithm, parameters, callback) =>
  argon2(algorithm, { ...parameters, memory: 8, passes: 1 }, callback)
syncBuiltinESMExports()
