// npm run test:clients: generates clients in four languages from the OpenAPI document of a local stack. In
// each language, a program signs in, reads data and gets a failure through the client. The clients stay in
// dist.
import { exec } from 'node:child_process'
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { installPython } from '../support/install-python.ts'
import { startUnthrottledStack } from '../support/start-unthrottled-stack.ts'

const root = join(import.meta.dirname, '../../dist/clients')
const openapiGenerator = `openapi-generator-cli generate --input-spec ../openapi.json \
  --global-property apiTests=false,modelTests=false,apiDocs=false,modelDocs=false`

/** For each language: the commands to run, the path of its model files, and its type for decimal numbers. */
const generators = [
  {
    language: 'typescript',
    name: 'openapi-typescript with openapi-fetch',
    generate: 'openapi-typescript ../openapi.json --output schema.ts && cp $PROGRAMS/program.ts .',
    compile: `echo '{ "extends": "../../../tsconfig.json", "include": ["."] }' >tsconfig.json && tsc`,
    run: 'node program.ts',
    decimal: 'string',
  },
  {
    language: 'python',
    name: 'openapi-python-client',
    generate:
      'openapi-python-client generate --fail-on-warning --path ../openapi.json --meta none --output-path client',
    models: 'client/models/[a-z]*.py',
    compile: `python -c 'import client, pkgutil as p; [__import__(m.name) for m in p.walk_packages(["."])]'`,
    run: 'PYTHONPATH=. python $PROGRAMS/program.py',
    decimal: 'Decimal',
  },
  {
    language: 'java',
    name: 'openapi-generator, java (native)',
    generate: `${openapiGenerator} --generator-name java --library native --additional-properties \
      openApiNullable=false,invokerPackage=client,apiPackage=client,modelPackage=client.model &&
      cp $PROGRAMS/Program.java src/main/java`,
    models: 'src/main/java/client/model/!(Abstract)*.java',
    compile: 'mvn --quiet --batch-mode compile dependency:build-classpath -Dmdep.outputFile=classpath',
    run: 'java -cp "target/classes:$(cat classpath)" Program',
    decimal: 'BigDecimal',
  },
  {
    language: 'go',
    name: 'openapi-generator, go',
    generate: `${openapiGenerator} --generator-name go --type-mappings number=Decimal --output client \
      --additional-properties withGoMod=false,packageName=client &&
      cp $PROGRAMS/decimal.go client && cp $PROGRAMS/program.go . && go mod init program`,
    models: 'client/model_*.go',
    compile: 'go build .',
    run: './program',
    decimal: 'json.Number',
  },
]
/** Warnings of the generators that do not indicate a mistake in the document. */
const harmless = /3\.1 support|`format` decimal|reserved word|complex example|schema name: null/
const asWord = (name: string): string => name.replaceAll('_', '').toLowerCase()

const environment = {
  ...process.env,
  PATH: `${installPython()}:${join(root, '../../node_modules/.bin')}:${process.env['PATH'] ?? ''}`,
  PROGRAMS: join(import.meta.dirname, 'programs'),
  JAVA_OPTS: '-XX:TieredStopAtLevel=1',
}
await using stack = await startUnthrottledStack()
// Modules of functions/ and shared/ are imported only now, because they read the environment on load.
const { handler: adjusted } = await import('../../functions/intake/wallet.adjusted.ts')
const { growTree } = await import('../../shared/community/growth/run.ts')
const { applyEvent } = await import('../support/apply-event.ts')
const { adjustment } = await import('../support/ledger.ts')
const { authenticatorCode, createUser, md5 } = await import('../support/sign-in.ts')

rmSync(root, { recursive: true, force: true })
mkdirSync(root, { recursive: true })
const document = await (await fetch(`${stack.baseUrl}/_local/docs/openapi.json`)).text()
writeFileSync(join(root, 'openapi.json'), document)
const { schemas } = (JSON.parse(document) as { components: { schemas: object } }).components
// One enum has no name in the document, because Go cannot have two enums with the same names of constants.
// Generators may call it `LoginVerifyFormMethod`, but may invent no other names.
const known = [...Object.keys(schemas), 'LoginVerifyFormMethod'].map(asWord)
// Requests time out if a machine compiles several clients at once.
console.table(await Array.fromAsync(generators, tryGenerator))

/** Generates, compiles and uses a client. Returns the results as a row to print. */
async function tryGenerator(generator: (typeof generators)[number]): Promise<object> {
  const { language, name, generate, models, compile, run, decimal } = generator
  const cwd = join(root, language)
  const row: Record<string, unknown> = { generator: name }
  const shell = (commands: string) => promisify(exec)(commands, { cwd, env: environment, maxBuffer: 2 ** 24 })
  try {
    mkdirSync(cwd)
    // Prints to stderr, because Node.js adds the stderr of a failed command to the error's message.
    const { stderr } = await shell(`{ ${generate}; } >&2`)
    const complaints = stderr
      .split('\n')
      .filter((line) => / (WARN|ERROR) /.test(line) && !harmless.test(line))
    row['errors'] = complaints.length
    if (complaints.length > 0) throw new Error(complaints.join('\n'))
    const names = globSync(models ?? [], { cwd }).map((file) => basename(file).replace(/^model_|\.\w+$/g, ''))
    const invented = names.filter((model) => !known.includes(asWord(model)))
    if (models !== undefined) Object.assign(row, { models: names.length, 'invented names': invented.length })
    if (invented.length > 0) throw new Error(`invented names: ${invented.join()}`)
    await shell(`{ ${compile}; } >&2`)
    row['compiles'] = 'yes'
    const amount = '0.100000000000000001'
    const { userId, email, totpSecret } = await createUser({ login_password: md5('password') })
    await createUser({ referrer_id: userId, nickname: 'Bob' })
    await growTree(userId, Date.now() + 30_000)
    await applyEvent(adjusted, adjustment(userId, { amount }))
    const { stdout } = await shell(
      `${run} ${stack.baseUrl} ${email} password ${await authenticatorCode(totpSecret)}`,
    )
    const expected = `${decimal} ${amount} ${amount} Bob ${amount} 40001 currencyNetWork`
    if (stdout !== `${expected}\n`) throw new Error(`read ${stdout} instead of ${expected}`)
    Object.assign(row, { 'signs in': 'yes', money: `${decimal} ${amount}`, failure: 40_001 })
  } catch (error) {
    console.error(`${name}: ${String(error)}`)
    process.exitCode = 1
  }
  return row
}
