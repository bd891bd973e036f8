import type { Command } from 'commander'
import { addAddressesImport } from './commands/addresses-import.ts'
import { addClientAdd } from './commands/client-add.ts'
import { addClientList } from './commands/client-list.ts'
import { addDlqDrop } from './commands/dlq-drop.ts'
import { addDlqList } from './commands/dlq-list.ts'
import { addDlqRedrive } from './commands/dlq-redrive.ts'
import { addDlqShow } from './commands/dlq-show.ts'
import { addDoctor } from './commands/doctor.ts'
import { addEventPut } from './commands/event-put.ts'
import { addFunctions } from './commands/functions.ts'
import { addKeysAudit } from './commands/keys-audit.ts'
import { addKeysRevoke } from './commands/keys-revoke.ts'
import { addKeysRotate } from './commands/keys-rotate.ts'
import { addKeysStatus } from './commands/keys-status.ts'
import { addLedgerVerify } from './commands/ledger-verify.ts'
import { addRatesSet } from './commands/rates-set.ts'
import { addUserAdd } from './commands/user-add.ts'
import { addUserDisable } from './commands/user-disable.ts'
import { addUserShow } from './commands/user-show.ts'
import { addUserTotp } from './commands/user-totp.ts'
import type { Carry } from './ops.ts'

type Add = (parent: Command, carry: Carry) => Command

const groups: [name: string, description: string, commands: Add[]][] = [
  [
    'user',
    'Users, changed by events as the business server would.',
    [addUserAdd, addUserShow, addUserDisable, addUserTotp],
  ],
  ['client', 'Applications that may ask for codes and tokens.', [addClientAdd, addClientList]],
  ['event', 'Events, as the systems around this service send them.', [addEventPut]],
  ['ledger', 'Wallets and their bills.', [addLedgerVerify]],
  ['rates', 'Rates by which wallets are converted.', [addRatesSet]],
  ['addresses', 'The pool of deposit addresses.', [addAddressesImport]],
  [
    'dlq',
    'Dead letters: events that were refused or given up.',
    [addDlqList, addDlqShow, addDlqRedrive, addDlqDrop],
  ],
  [
    'keys',
    'The signing keys and their rotation.',
    [addKeysStatus, addKeysRotate, addKeysRevoke, addKeysAudit],
  ],
]

/** Adds every command, in its group. */
export function addCommands(program: Command, carry: Carry): void {
  for (const add of [addDoctor, addFunctions]) add(program, carry)
  for (const [name, description, commands] of groups) {
    const parent = program.command(name).description(description)
    for (const add of commands) add(parent, carry)
  }
}
