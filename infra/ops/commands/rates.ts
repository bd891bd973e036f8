import type { Command } from 'commander'
import { examples, type RunCommand } from '../command.ts'
import { UsageError } from '../errors.ts'

/** Adds the command group `rates`, which publishes the rates for valuing wallets. */
export function addRatesCommands(program: Command, run: RunCommand): void {
  program
    .command('rates')
    .description('Publishes the rates with which wallets are valued.')
    .command('set')
    .argument('<rates...>', 'CURRENCY=RATE, in units of the quote currency')
    .description(
      'Publishes rates with a rates.published event. They replace all earlier ones: a currency left out has no rate.',
    )
    .addHelpText(
      'after',
      examples({ 'rates set BTC=65000.5 ETH=3120': 'sets the value of one BTC and one ETH' }),
    )
    .action((pairs: string[]) => {
      const rates = readRates(pairs)
      return run(async ({ target, show }) => {
        const { sendAndConfirm } = await import('../events/send-and-confirm.ts')
        const quote = target.settings.quoteCurrency
        const asOf = Date.now()
        await sendAndConfirm(target, {
          detailType: 'rates.published',
          businessKey: `${quote}#${asOf}`,
          detail: { quote, as_of: asOf, rates },
        })
        show({ quote, as_of: asOf, rates }, () => `${pairs.length} rates in ${quote} are set.`)
        return true
      })
    })
}

function readRates(pairs: string[]): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [, currency, rate] = /^([A-Za-z0-9._-]{1,20})=(\d{1,20}(?:\.\d{1,18})?)$/.exec(pair) ?? []
      if (currency === undefined || rate === undefined)
        throw new UsageError(`${pair} is not of the form CURRENCY=RATE, for example BTC=65000.5`)
      return [currency.toUpperCase(), rate]
    }),
  )
}
