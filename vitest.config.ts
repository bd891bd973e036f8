import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forgetAwsSettings } from './infra/ops/forget-aws-settings.ts'
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config'

// Tests run in UTC, as functions do on Lambda. TZ is set here because threads share their process's time
// zone.
process.env.TZ = 'UTC'
// No test calls AWS, so the AWS settings of this machine are not for them.
forgetAwsSettings()

// A run has its own temporary directory, so it leaves nothing behind, whatever its child processes write.
const temporary = mkdtempSync(join(tmpdir(), 'test-run-'))
process.env.TMPDIR = temporary
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))

const common = {
  pool: 'threads',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  env: {},
} as const

/** Environment for modules that create AWS clients when they load. No server answers at these addresses. */
const nowhere = {
  AWS_REGION: 'us-east-1',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  METRICS_NAMESPACE: 'none',
  BASE_URL: 'https://api.example.com',
  TABLE_NAME: 'none',
}

/** Defines a Vitest project whose files end in `.NAME.test.ts`. */
const project = (
  name: string,
  test: TestProjectInlineConfiguration['test'],
): TestProjectInlineConfiguration => ({
  test: { ...common, name, include: [`test/**/*.${name}.test.ts`], exclude: ['test/browser/**'], ...test },
})

const onTable = {
  globalSetup: 'test/support/table-setup.ts',
  setupFiles: [
    'test/support/silence-log.ts',
    'test/support/function-environment.ts',
    'test/support/restore-worker.ts',
    'test/support/write-on-the-hour.ts',
    'test/support/told-outcomes.ts',
  ],
}

const inMemory = { ...onTable, setupFiles: [...onTable.setupFiles, 'test/support/table-in-memory.ts'] }

const onStack = {
  globalSetup: 'test/support/stack-setup.ts',
  setupFiles: [
    'test/support/silence-log.ts',
    'test/support/reap-processes.ts',
    'test/support/function-environment.ts',
    'test/support/restore-worker.ts',
    'test/support/check-answers.ts',
  ],
}

/** Configuration of tests that need nothing but this process. */
const alone = {
  env: nowhere,
  setupFiles: ['test/support/silence-log.ts', 'test/support/unit-guard.ts'],
  // Test files that run in the same worker share modules, which saves a third of the time.
  isolate: false,
  restoreMocks: true,
  unstubEnvs: true,
}

const onProcesses = {
  env: nowhere,
  setupFiles: [
    'test/support/silence-log.ts',
    'test/support/reap-processes.ts',
    'test/support/check-answers.ts',
  ],
  restoreMocks: true,
  unstubEnvs: true,
}

/** The slowest tests, of code that seldom breaks. `npm run test:long` runs them. */
const long = {
  unit: ['test/shared/keys/decide/every-*.test.ts', 'test/infra/catalogue/idle-cost.template.test.ts'],
  process: [
    'test/readme.process.test.ts',
    'test/infra/local/demo/send-demo.process.test.ts',
    'test/flows/outcomes-after-kills.process.test.ts',
    'test/infra/bundle/functions/record.process.test.ts',
    'test/infra/local/{dynamodb,start}.process.test.ts',
    'test/infra/stacks/add-stacks/{checks,changed-knob}.process.test.ts',
    'test/infra/with-dependencies.process.test.ts',
    'test/shared/aws/aws-client/unanswered.process.test.ts',
  ],
  stack: [
    'test/functions/worker/grow-tree.stack.test.ts',
    'test/infra/grants.stack.test.ts',
    'test/infra/{runbook,runbook/recovery}.stack.test.ts',
    'test/infra/ops/commands/dlq.stack.test.ts',
    'test/infra/ops/events/send-lines.stack.test.ts',
    'test/infra/samples/business-server.stack.test.ts',
  ],
  table: [
    'test/infra/ops/restore/prepare-table.table.test.ts',
    'test/functions/schedule/rotate-signing-keys/kms-lag.table.test.ts',
    'test/functions/user/login-with-password/timing.table.test.ts',
  ],
}

/**
 * Table tests that run on DynamoDB Local, because they test what DynamoDB or IAM does. Most others use a
 * table in memory, which takes half of the time. Simulations in test/faults check that both answer alike.
 */
const onDynamodbLocal = [
  'test/faults/stale-reads.table.test.ts',
  'test/functions/intake/{address.assigned,client.registered,mail.*,package.purchased,rates.published}.table.test.ts',
  'test/functions/intake/{reward.granted,wallet.adjusted,withdrawal.updated}.table.test.ts',
  'test/infra/ops/keys/*.table.test.ts',
  'test/shared/community/search/budget.table.test.ts',
  'test/shared/db/{find-nothing,read}.table.test.ts',
  'test/shared/{events,http}/**/*.table.test.ts',
]

/** Test files that share no modules with others, because they reload modules or fake the time. */
const isolatedInMemory = [
  'test/functions{,/well-known/jwks}.table.test.ts',
  'test/shared/sign-in/password/digest.table.test.ts',
]

const isolatedProcess = ['test/infra/local/stage.process.test.ts']

/** Test files on DynamoDB Local that share no modules. They reload modules, or change a cached setting. */
const ofOwnModules = [
  'test/functions/intake/{mail.requested,rates.published}.table.test.ts',
  'test/shared/events/event-record.table.test.ts',
]

/**
 * The name of a test file says what it needs, and a run starts nothing else:
 * - `x.test.ts`, unit: nothing. A socket, a process or a thread fails the test.
 * - `x.template.test.ts`: nothing either, but it synthesizes whole stages, which takes seconds.
 * - `x.process.test.ts`: servers, processes or threads that the file itself starts and stops.
 * - `x.table.test.ts`: a table, in memory or (project `dynamodb`) in DynamoDB Local, and KMS keys that all
 *   such files share. The tested code runs in the test's own process with the environment of a function.
 * - `x.stack.test.ts`: the whole local stack, shared by all such files.
 */
export default defineConfig({
  test: {
    globalSetup: 'test/support/api-reference.ts',
    allowOnly: false,
    // More workers than the two CPU cores of a usual machine, because a worker waits for servers, timers and
    // queues. With four, loading modules in each worker takes more time than the fourth saves.
    maxWorkers: 3,
    projects: [
      project('unit', {
        include: ['test/**/*.test.ts'],
        exclude: ['test/browser/**', ...long.unit, 'test/**/*.{template,process,table,stack}.test.ts'],
        ...alone,
      }),
      project('template', { ...alone, exclude: long.unit }),
      project('process', {
        ...onProcesses,
        isolate: false,
        exclude: [...long.process, ...isolatedProcess],
      }),
      project('process-isolated', { ...onProcesses, include: isolatedProcess }),
      project('long-process', { ...onProcesses, include: long.process }),
      project('table', {
        ...inMemory,
        isolate: false,
        exclude: [...isolatedInMemory, ...onDynamodbLocal, ...long.table],
      }),
      project('table-isolated', { ...inMemory, include: isolatedInMemory }),
      project('dynamodb', {
        ...onTable,
        isolate: false,
        include: onDynamodbLocal,
        exclude: ofOwnModules,
      }),
      project('dynamodb-isolated', { ...onTable, include: ofOwnModules }),
      project('stack', { ...onStack, isolate: false, exclude: long.stack }),
      project('long-unit', { include: long.unit, env: nowhere }),
      project('long-table', { ...onTable, include: long.table }),
      project('long-stack', {
        ...onStack,
        // Repeats the tests of the samples, this time also for the sample in Python.
        include: [...long.stack, 'test/infra/samples/*.test.ts'],
        env: { WITH_PYTHON: 'true' },
      }),
      project('browser', {
        ...onStack,
        include: ['test/browser/*.test.ts'],
        exclude: [],
        env: { STACK_DEMO: 'true' },
        testTimeout: 60_000,
        hookTimeout: 120_000,
      }),
      project('quirks', {
        ...onStack,
        include: ['test/flows/*.stack.test.ts'],
        env: { STACK_QUIRKS: process.env.STACK_QUIRKS ?? 'all,seed=7,speed=60' },
        testTimeout: 120_000,
        hookTimeout: 240_000,
      }),
    ],
  },
})
