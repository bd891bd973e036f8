import { layOut, type Report } from '../../../../infra/ops/report.ts'

/** The lines of a report as they reach a pipe. */
export const linesOf = (report: Report): string[] => [...layOut(report)].map(([line]) => line)
