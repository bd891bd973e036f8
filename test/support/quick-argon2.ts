// Import this module before all others, for its side effect: it makes Argon2 quick and weak. Tests with a
// table in memory hash hundreds of passwords, and a hash of full strength takes 0.1 s of processor time. A
// weak hash matches only where this module is loaded.
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'

const { argon2 } = crypto
crypto.argon2 = (algorithm, parameters, callback) =>
  argon2(algorithm, { ...parameters, memory: 8, passes: 1 }, callback)
syncBuiltinESMExports()
