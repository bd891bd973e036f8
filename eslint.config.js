import js from '@eslint/js'
import tseslint from 'typescript-eslint'

/** Type-aware linting of everything that tsconfig.json includes; plain JavaScript gets the plain rules. */
export default tseslint.config(
  { ignores: ['cdk.out', 'dist', '.local', 'coverage'] },
  { linterOptions: { reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: ['**/*.ts'],
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: [
          './tsconfig.json',
          './infra/authorization-page/tsconfig.json',
          './infra/local/console/client/tsconfig.json',
        ],
      },
    },
    rules: {
      // Numbers and booleans read well inside template strings; objects do not.
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        { allowNumber: true, allowBoolean: true },
      ],
      // A handler that must be async to fit a type need not await.
      '@typescript-eslint/require-await': 'off',
      // `() => void work()` and `() => sideEffect()` are both plain.
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/switch-exhaustiveness-check': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
    },
  },
  {
    files: ['**/*.{js,mjs}'],
    languageOptions: { globals: { process: 'readonly', console: 'readonly', URL: 'readonly' } },
  },
)
