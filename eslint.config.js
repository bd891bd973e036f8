import js from '@eslint/js'
import { globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import regexp from 'eslint-plugin-regexp'
import tseslint from 'typescript-eslint'

/** The folders of shared/, from top to bottom. A folder imports only folders below it (shared/README.md). */
const sharedFolders = [
  'registration',
  'community',
  'sign-in',
  'oauth',
  'dashboard',
  'deposits',
  'ledger',
  'rates',
  'http',
  'tokens',
  'keys',
  'users',
  'events',
  'db',
  'aws',
]

/** The folders of infra/, from top to bottom. A folder imports only folders below it (infra/README.md). */
const infraFolders = [
  'samples',
  'local',
  'ops',
  'catalogue',
  'openapi',
  'stacks',
  'constructs',
  'authorization-page',
  'bundle',
]

/**
 * Matches an import path that leads into one of these folders, for example `../db/table.ts` or
 * `./db/table.ts`. Does not match the demo events, which are plain data that any folder may import.
 */
const pathTo = (...folders) => `^\\.{1,2}/(?!.*demo/demo-events)(.*/)?(${folders.join('|')})/`

/** Makes ESLint report every import of a matching path, including `import()` and imports of types. */
function forbid(files, boundaries) {
  const selector = (node, regex) => `${node}[source.value=/${regex.replaceAll('/', '\\u002F')}/]`
  return {
    files: [files],
    rules: {
      'no-restricted-imports': ['error', { patterns: boundaries }],
      'no-restricted-syntax': [
        'error',
        ...boundaries.flatMap(({ regex, message }) =>
          ['ImportExpression', 'TSImportType'].map((node) => ({ selector: selector(node, regex), message })),
        ),
      ],
    },
  }
}

/** Throws if a folder is missing from `folders`, because then no rule would check the folder's imports. */
function checkComplete(folder, folders) {
  const unlisted = readdirSync(join(import.meta.dirname, folder), { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !folders.includes(entry.name))
    .map(({ name }) => `${folder}/${name}`)
  if (unlisted.length > 0) throw new Error(`add ${unlisted.join(', ')} to the folders in eslint.config.js`)
}

checkComplete('shared', sharedFolders)
checkComplete('infra', infraFolders)

/** Forbids each of `folders` to import from those listed before it, or from paths that match `outside`. */
const orderFolders = (folder, folders, outside) => [
  forbid(`${folder}/*.ts`, [
    outside,
    { regex: pathTo(...folders), message: `Files directly in ${folder}/ import none of its folders.` },
  ]),
  ...folders.map((child, position) =>
    forbid(`${folder}/${child}/**/*.{ts,tsx}`, [
      outside,
      ...(position === 0
        ? []
        : [
            {
              regex: pathTo(...folders.slice(0, position)),
              message: `${folder}/${child} does not import the folders above it: see eslint.config.js.`,
            },
          ]),
    ]),
  ),
]

const boundaries = [
  forbid('functions/**/*.ts', [
    { regex: pathTo('infra', 'test'), message: 'Functions import shared/ and packages only.' },
  ]),
  ...orderFolders('shared', sharedFolders, {
    regex: pathTo('functions', 'infra', 'test'),
    message: 'shared/ imports neither functions/ nor infra/.',
  }),
  ...orderFolders('infra', infraFolders, {
    regex: pathTo('functions', 'test'),
    message: 'infra/ imports shared/; only openapi/ loads functions, for their schemas.',
  }),
]

/** Maps each source file to the files that it imports, type-only imports included. Paths are absolute. */
const imports = new Map(
  globSync('{functions,shared,infra,test}/**/*.{ts,tsx,mjs}', { cwd: import.meta.dirname }).map((name) => {
    const file = join(import.meta.dirname, name)
    const paths = readFileSync(file, 'utf8').matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)
    return [file, [...paths].map(([, path]) => resolve(dirname(file), path))]
  }),
)

/** Finds a chain of imports from a file back to itself. */
function findCircle(file, path = [file], visited = new Set()) {
  for (const next of imports.get(path.at(-1)) ?? []) {
    if (next === file) return [...path, file]
    if (visited.has(next)) continue
    visited.add(next)
    const circle = findCircle(file, [...path, next], visited)
    if (circle !== undefined) return circle
  }
  return undefined
}

/** Reports import circles, because the files of a circle cannot be understood one after another. */
const noImportCircle = {
  create: ({ filename, report }) => ({
    Program(node) {
      const circle = findCircle(filename)?.map((file) => file.replace(`${import.meta.dirname}/`, ''))
      if (circle !== undefined) report({ node, message: `Import circle: ${circle.join(' → ')}` })
    },
  }),
}

/** Lints TypeScript with type-aware rules, and plain JavaScript without such rules. */
export default tseslint.config(
  { ignores: ['cdk.out', 'dist', '.local', 'coverage', 'test/clients/programs'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.{ts,tsx}'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.json',
          './infra/authorization-page/tsconfig.json',
          './infra/local/console/client/tsconfig.json',
          './infra/samples/wallet/tsconfig.json',
        ],
      },
    },
    rules: {
      // Numbers and booleans read well inside template strings; objects do not.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // Handlers are async to fit their type, even handlers that do not await.
      '@typescript-eslint/require-await': 'off',
      // Allows `() => void work()` and `() => sideEffect()`.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      // Prettier wraps code, but not comments.
      'max-len': [
        'error',
        {
          code: 1000,
          comments: 110,
          ignoreUrls: true,
        },
      ],
    },
  },
  {
    // Functions match what clients send, and one long text could keep a slow pattern busy for minutes.
    files: ['{functions,shared}/**/*.ts'],
    plugins: { regexp },
    rules: {
      'regexp/no-super-linear-backtracking': ['error', { report: 'potential' }],
      'regexp/no-super-linear-move': ['error', { report: 'potential' }],
    },
  },
  ...boundaries,
  {
    files: ['**/*.{ts,tsx,mjs}'],
    plugins: { imports: { rules: { 'no-circle': noImportCircle } } },
    rules: { 'imports/no-circle': 'error' },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
)
