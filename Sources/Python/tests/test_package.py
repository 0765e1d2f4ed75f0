"""The installed package, and the documents' examples."""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import scene

FOLDER = scene.ROOT / "Sources/Python"


class PackageTests(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="brokerclient-")
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_python(self, *arguments, **more):
        result = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, **more)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return result.stdout

    def test_mypy_strict_has_nothing_to_say(self):
        self.run_python(
            "-m", "mypy", "--cache-dir", self.folder, "--config-file", FOLDER / "pyproject.toml",
            FOLDER / "brokerclient")

    def test_pip_installs_it_from_the_folder_with_its_backend_for_keyring(self):
        # A build leaves files next to the sources.
        copy, place = self.folder / "sources", self.folder / "place"
        shutil.copytree(FOLDER, copy, ignore=shutil.ignore_patterns("tests", "__pycache__"))
        self.run_python(
            "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", "--no-build-isolation",
            "--target", place, copy)
        program = (
            "import brokerclient.azure.aio, keyring.backend; "
            "print(brokerclient.__file__, [b.name for b in keyring.backend.get_all_keyring()])")
        said = self.run_python("-c", program, env={**os.environ, "PYTHONPATH": str(place)}, cwd=self.folder)
        self.assertIn(str(place), said)
        self.assertIn("keyring BrokerKeyring", said)
        self.assertTrue((place / "brokerclient/py.typed").exists())

    def test_the_module_for_asyncio_is_imported_on_first_use(self):
        program = (
            "import sys, brokerclient; print('brokerclient.aio' in sys.modules, brokerclient.aio.Broker.__module__); "
            "from brokerclient import aio; print(aio is brokerclient.aio, hasattr(brokerclient, 'other'))")
        said = self.run_python("-c", program, env={**os.environ, "PYTHONPATH": str(FOLDER)})
        self.assertEqual(said.split(), ["False", "brokerclient.aio", "True", "False"])

    def test_the_lines_of_the_recipes_run(self):
        page = (scene.ROOT / "docs/recipes.md").read_text()
        section = page.split("\n## Python\n")[1].split("\n## ")[0]
        blocks = re.findall(r"```python\n(.*?)```", section, re.S)
        self.assertGreaterEqual(len(blocks), 3)
        from api import served
        with mock.patch.dict(os.environ, BROKER_SOCKET=scene.shared().socket, NO_PROXY="*"), served() as api:
            for block in blocks:
                code = block.replace('"work"', '"notes"').replace('"api"', '"notes.read"')
                exec(code.replace("https://api.example.org/me", api.url), {})
        self.assertGreaterEqual(len(api.requests), 2)
