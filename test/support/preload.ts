/** Environment in which Node.js runs a script, with the module `fs` at hand, before the program itself. */
export const preload = (script: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; ${script}; syncBuiltinESMExports()`,
  )}"`,
})
