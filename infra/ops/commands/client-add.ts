import type { Command } from 'commander'
import { examples } from '../examples.ts'
import { readSecret } from '../read-secret.ts'
import type { Carry } from '../ops.ts'

interface AddOptions {
  name?: string
  redirectUri: string[]
  scope: string[]
  secretStdin?: true
}

/** `client add`: registers an application, or replaces what was registered of it. */
export const addClientAdd = (parent: Command, carry: Carry): Command =>
  parent
    .command('add')
    .argument('<client_id>', 'the application')
    .description('Registers or replaces an application by the event client.registered.')
    .option('--name <name>', 'what users are shown (default: the client_id)')
    .requiredOption('--redirect-uri <uri...>', 'where answers may be sent to')
    .option('--scope <scope...>', 'what it may ask for', ['openid'])
    .option('--secret-stdin', 'read the secret of a confidential client from standard input')
    .addHelpText(
      'after',
      examples([
        [
          'client add my-app --redirect-uri http://127.0.0.1:4000/callback --scope openid account.read',
          'a public client: PKCE instead of a secret',
        ],
        [
          'client add shop --redirect-uri https://shop.example/cb --secret-stdin < secret.txt',
          'a confidential client',
        ],
      ]),
    )
    .action((clientId: string, options: AddOptions) =>
      carry(async ({ target, terminal, show }) => {
        const secret = options.secretStdin ? await readSecret(terminal, 'secret') : undefined
        const { sendOne } = await import('../events/send-one.ts')
        const at = Date.now()
        await sendOne(target, {
          detailType: 'client.registered',
          businessKey: `${clientId}#${at}`,
          detail: {
            client_id: clientId,
            updated_at: at,
            name: options.name ?? clientId,
            redirect_uris: options.redirectUri,
            secret,
            scopes: options.scope,
          },
        })
        show({ client_id: clientId, updated_at: at }, () => `Client ${clientId} is registered.`)
        return true
      }),
    )
