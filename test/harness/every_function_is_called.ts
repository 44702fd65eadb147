import type { TestProject } from 'vitest/node'
import { privateFolder, removeFolder } from '../../stack/temporary_folder.ts'
import { findUncalledFunctions } from './called_functions.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder in which each test database leaves the names of the functions called in it. */
    calledFunctions: string
  }
}

/** After a run of all tests: each function of api and internal was called by one of them, or the run has failed. */
export default async function everyFunctionIsCalled(project: TestProject): Promise<() => Promise<void>> {
  const folder = await privateFolder()
  project.provide('calledFunctions', folder)
  return async () => {
    try {
      if (!(await ranCompletely(project))) return
      const uncalled = await findUncalledFunctions(project.getProvidedContext().cluster.templateUrl, folder)
      if (uncalled.length === 0) return
      console.error(`\nNo test calls these functions:\n${uncalled.map((name) => `  ${name}\n`).join('')}`)
      process.exitCode = 1
    } finally {
      await removeFolder(folder)
    }
  }
}

async function ranCompletely(project: TestProject): Promise<boolean> {
  const { vitest } = project
  const { testFiles } = await project.globTestFiles()
  return (
    vitest.config.testNamePattern === undefined &&
    vitest.state.getCountOfFailedTests() === 0 &&
    testFiles.every((file) => vitest.state.getFilepaths().includes(file))
  )
}
