/** The manners of the stack that this project's tests share, as `--aws` takes them; undefined for none. */
export const stackManners = process.env['STACK_MANNERS']

/** How long a test waits for what takes this long at most: four times as long with manners. */
export const patience = (milliseconds: number): number => milliseconds * (stackManners === undefined ? 1 : 4)

/** End of the line that the local stack prints for each answer with status 500. */
export const answered500 = 'was answered 500'
