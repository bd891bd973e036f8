// Import this module before all others: it makes Argon2 quick and weak. Tests hash hundreds of passwords, and
// a hash of full strength takes 0.1 s of processor time.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { argon2 } = crypto
crypto.argon2 = (algorithm, parameters, callback) =>
  argon2(algorithm, { ...parameters, memory: 8, passes: 1 }, callback)
syncBuiltinESMExports()
