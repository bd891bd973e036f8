/** What a command's help ends with: command lines to copy, each with what it does. */
export const examples = (lines: [commandLine: string, meaning: string][]): string =>
  `\nExamples:\n${lines.map(([line, meaning]) => `  $ npm run ops -- ${line}\n      ${meaning}`).join('\n')}`
