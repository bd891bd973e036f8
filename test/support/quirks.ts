/** The quirks (simulated AWS behaviour) of the shared stack, in the syntax of `--aws`; undefined for none. */
export const stackQuirks = process.env['STACK_QUIRKS']

/** The timeout for a wait: four times as long if the shared stack simulates slow and faulty AWS. */
export const patience = (milliseconds: number): number => milliseconds * (stackQuirks === undefined ? 1 : 4)

/** End of the line that the local stack prints for every answer with status 500. */
export const answered500 = 'was answered 500'
