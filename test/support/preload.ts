/** Environment that makes Node.js run a script before the program itself; the script can use `fs`. */
export const preload = (script: string): NodeJS.ProcessEnv => ({
  NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(
    `import fs from 'node:fs'; import { syncBuiltinESMExports } from 'node:module'; ${script}; syncBuiltinESMExports()`,
  )}"`,
})
